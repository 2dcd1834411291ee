"""Imports whose file is being uploaded.

`upload_expires_at` is how long the file is waited for: a quarter of an hour for its first byte, then an hour for each
next one, three hours for all of it. `upload_bytes` is the size of the file, from the first part that says it. A token
is kept once all of the file is there, to answer whoever did not get the last answer.
"""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Select, and_, or_, select, update

from callwright.service.platform.clock.clock import HOUR, MINUTE
from callwright.service.tables.schema import api_keys, imports, memberships

BEGINS_MS = 15 * MINUTE
"""How long the first byte of a file is waited for. Meanwhile no deployment of the audience starts."""
GOES_ON_MS = HOUR
"""How long the next byte is waited for."""
LONGEST_MS = 3 * HOUR
"""How long an upload may take as a whole."""
LONGEST_IMPORT_MS = 6 * HOUR
"""An import that has not ended by then fails, however its file came."""
_NOTED_MS = MINUTE
"""How much longer a file must be waited for, that it is written down: not for each byte."""
_I = imports.c
_WAITS = and_(_I.status == "uploading", _I.completed_at.is_(None))
_REVOKED = (
    select(api_keys.c.id).where(api_keys.c.id == _I.created_by_key_id, api_keys.c.revoked_at.is_not(None)).exists()
)
_MAY = (
    select(memberships.c.user_id)
    .where(
        memberships.c.org_id == _I.org_id,
        memberships.c.user_id == _I.created_by_user_id,
        memberships.c.left_at.is_(None),
        memberships.c.role != "viewer",
    )
    .exists()
)
_ENDED = or_(_REVOKED, and_(_I.created_by_user_id.is_not(None), ~_MAY))
"""Whoever began the import may not import any more."""
_SHOWN = (
    _I.id, _I.org_id, _I.audience_id, _I.status, _I.added, _I.invalid, _I.duplicates, _I.created_at,
    _I.upload_expires_at, _I.upload_bytes, _I.created_by_user_id,
)  # fmt: skip


@dataclass(frozen=True)
class OpenUpload:
    """An import that waits for its file, which began at `began_ms`. `expires_ms` is when it no longer does, `total` the
    size of the file in bytes, if it is known.
    """

    import_id: str
    audience_id: str
    began_ms: int
    expires_ms: int
    total: int | None = None

    def heard_at(self, now_ms: int) -> int | None:
        """Until when it waits if bytes come now; None where that is not worth a note."""
        until = min(now_ms + GOES_ON_MS, self.began_ms + LONGEST_MS)
        return until if until >= self.expires_ms + _NOTED_MS else None


@dataclass(frozen=True)
class CompleteUpload:
    """An import whose file is there as a whole, `total` bytes of it."""

    import_id: str
    audience_id: str
    total: int


def by_token(token_hash: str) -> ColumnElement[bool]:
    """The import whose address has this token, if whoever began it may still import."""
    return and_(_I.upload_token_hash == token_hash, ~_ENDED)


def by_id(org_id: str, audience_id: str, import_id: str) -> ColumnElement[bool]:
    """An import of an organization's audience."""
    return and_(_I.id == import_id, _I.audience_id == audience_id, _I.org_id == org_id)


def _open(which: ColumnElement[bool], now_ms: int) -> ColumnElement[bool]:
    return and_(which, _I.upload_expires_at > now_ms, _WAITS, ~_ENDED)


def find(connection: Connection, token_hash: str, now_ms: int) -> OpenUpload | CompleteUpload | None:
    """The upload that a token opens now. A key that was revoked takes the tokens of its uploads with it, and so does a
    user who left the organization or became a viewer."""
    wanted: Select[*tuple[Any, ...]] = select(*_SHOWN).where(_I.upload_token_hash == token_hash, ~_ENDED)
    row = connection.execute(wanted).one_or_none()
    if row is None:
        return None
    if row.status != "uploading":
        return CompleteUpload(row.id, row.audience_id, row.upload_bytes)
    if row.upload_expires_at <= now_ms:
        return None
    return OpenUpload(row.id, row.audience_id, row.created_at, row.upload_expires_at, row.upload_bytes)


def locked(connection: Connection, which: ColumnElement[bool], now_ms: int) -> Row[Any] | None:
    """The row of the import if it has not ended, and does not wait for its file in vain, locked. `which` is of
    `by_token` or `by_id`.
    """
    is_open = and_(_I.completed_at.is_(None), or_(_I.status != "uploading", _I.upload_expires_at > now_ms))
    wanted: Select[*tuple[Any, ...]] = select(*_SHOWN).where(which, is_open).with_for_update()
    return connection.execute(wanted).one_or_none()


def wait_until(connection: Connection, token_hash: str, now_ms: int, until_ms: int) -> bool:
    """Waits longer for the file. False if the upload is not open any more."""
    longer = update(imports).where(_open(by_token(token_hash), now_ms)).values(upload_expires_at=until_ms)
    return connection.execute(longer).rowcount == 1


def note_total(connection: Connection, token_hash: str, now_ms: int, total: int | None) -> bool:
    """Writes down the size of the file, or that it is not known. False if the upload is not open any more."""
    noted = update(imports).where(_open(by_token(token_hash), now_ms)).values(upload_bytes=total)
    return connection.execute(noted).rowcount == 1


def complete(connection: Connection, token_hash: str, now_ms: int, total: int) -> bool:
    """Lets the import begin: all of its file is there. False if the upload is not open any more."""
    done = update(imports).where(_open(by_token(token_hash), now_ms))
    changed = connection.execute(done.values(status="pending", upload_expires_at=None, upload_bytes=total))
    return changed.rowcount == 1


def is_overdue(connection: Connection, now_ms: int) -> bool:
    """Whether an import waits for its file in vain."""
    return connection.execute(_overdue(now_ms)).first() is not None


def lock_overdue(connection: Connection, now_ms: int) -> Row[Any] | None:
    """The row of an import that waits for its file in vain, locked; None where another process has it."""
    return connection.execute(_overdue(now_ms).with_for_update(skip_locked=True, of=imports)).one_or_none()


def why_ended(row: Row[Any], now_ms: int) -> str:
    """Why an import that `lock_overdue` returned ends, and what to do."""
    if row.upload_expires_at > now_ms:
        if row.created_by_user_id is not None:
            return "who began it may not import any more; somebody else may import the file again"
        return "the API key that began it was revoked while its file was uploaded; import it again with another key"
    if row.upload_expires_at == row.created_at + BEGINS_MS:
        minutes = BEGINS_MS // MINUTE
        return (
            f"nothing of its file was uploaded in time, within {minutes} minutes; import it again, and send it at once"
        )
    if row.upload_expires_at < row.created_at + LONGEST_MS:
        return "its file was not uploaded to its end, and for an hour nothing more came; import it again"
    hours = LONGEST_MS // HOUR
    return f"its file was not uploaded in time, within {hours} hours; import it again, for example packed with gzip"


def _overdue(now_ms: int) -> Select[*tuple[Any, ...]]:
    overdue = or_(_I.upload_expires_at <= now_ms, _ENDED)
    return select(*_SHOWN).where(_WAITS, overdue).order_by(_I.created_at).limit(1)
