"""Links by which somebody may call a number from a browser: each opens one call, once, within a minute."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlalchemy import ColumnElement, Connection, bindparam, delete, func, insert, select

from callwright.service.tables.schema import browser_callers, phone_numbers

_B, _N = browser_callers.c, phone_numbers.c
_OPEN = select(func.count()).where(_B.org_id == bindparam("org"), _B.expires_at > bindparam("now"))


@dataclass(frozen=True)
class BrowserCaller:
    """Somebody who may call a number from a browser. `from_` is empty if they show no number."""

    call_id: str
    org_id: str
    number_id: str
    from_: str = field(repr=False)


def add(connection: Connection, caller: BrowserCaller, token_hash: str, expires_ms: int) -> None:
    """Adds a link. Of its token only the hash is stored."""
    row = {
        "id": caller.call_id,
        "org_id": caller.org_id,
        "phone_number_id": caller.number_id,
        "from_number": caller.from_,
        "token_hash": token_hash,
        "expires_at": expires_ms,
    }
    connection.execute(insert(browser_callers), row)


def count_open(connection: Connection, org_id: str, now_ms: int) -> int:
    """How many links of an organization may still be used."""
    return connection.execute(_OPEN, {"org": org_id, "now": now_ms}).scalar_one()


def is_open(connection: Connection, call_id: str, token_hash: str, now_ms: int) -> bool:
    """Whether a token opens this call now."""
    return connection.execute(select(_B.id).where(*_opened_by(call_id, token_hash, now_ms))).first() is not None


def take(connection: Connection, call_id: str, token_hash: str, now_ms: int) -> tuple[BrowserCaller, str] | None:
    """Uses a link up: who calls, and the number that is called. None if it is used up, too old, or another one."""
    used = delete(browser_callers).where(*_opened_by(call_id, token_hash, now_ms))
    row = connection.execute(used.returning(_B.id, _B.org_id, _B.phone_number_id, _B.from_number)).one_or_none()
    if row is None:
        return None
    called = connection.execute(select(_N.number).where(_N.id == row.phone_number_id)).scalar_one()
    return BrowserCaller(row.id, row.org_id, row.phone_number_id, row.from_number), called


def _opened_by(call_id: str, token_hash: str, now_ms: int) -> tuple[ColumnElement[bool], ...]:
    return _B.id == call_id, _B.token_hash == token_hash, _B.expires_at > now_ms


def forget_person(connection: Connection, org_id: str, numbers: Sequence[str]) -> None:
    """Removes the links that show one of these numbers."""
    connection.execute(delete(browser_callers).where(_B.org_id == org_id, _B.from_number.in_(numbers)))


def forget_old(connection: Connection, now_ms: int) -> int:
    """Removes links that are too old; how many."""
    return connection.execute(delete(browser_callers).where(_B.expires_at <= now_ms)).rowcount


def are_old(connection: Connection, now_ms: int) -> bool:
    """Whether there is a link for `forget_old`."""
    return connection.execute(select(_B.id).where(_B.expires_at <= now_ms).limit(1)).first() is not None
