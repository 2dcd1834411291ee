"""Idempotency keys: a repeated request gets the first answer again, and nothing is done twice.

The key is claimed in the transaction that creates the resource, so both exist or neither does. Another request with the
same key waits in the database for that transaction and then finds the stored answer. Only successes are stored: after
a refusal the key is free again.
"""

import hashlib
import re
from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, delete, select, update
from sqlalchemy.exc import DBAPIError

from callwright.contract.problems import IDEMPOTENCY_KEY_REUSED
from callwright.service.platform.clock.clock import DAY
from callwright.service.platform.database.inserts import insert_ignoring_conflicts
from callwright.service.platform.database.postgres.lock_waits import Locked, is_locked
from callwright.service.platform.refusals import Refusal, invalid
from callwright.service.tables.schema import idempotency_keys

HEADER = "Idempotency-Key"
LIFETIME_MS = DAY
_FORM = re.compile(r"[\x21-\x7e]{1,255}")
_TABLE = idempotency_keys
_MINE = (
    (_TABLE.c.org_id == bindparam("b_org"))
    & (_TABLE.c.key_id == bindparam("b_key_id"))
    & (_TABLE.c.key == bindparam("b_key"))
)
_EXPIRE = delete(_TABLE).where(_MINE, _TABLE.c.created_at <= bindparam("b_before"))
_FIND = select(_TABLE.c.fingerprint, _TABLE.c.status, _TABLE.c.body).where(_MINE)
_STORE = (
    update(_TABLE)
    .where(_MINE)
    .values(status=bindparam("b_status"), body=bindparam("b_body"), personal=bindparam("b_personal"))
)


class KeyInProgress(Locked):
    """Another request held the key for longer than this one waits."""


@dataclass(frozen=True)
class StoredAnswer:
    """The first answer to a request."""

    status: int
    body: bytes


def read_key(header: str | None) -> str | None:
    """The key of a request, if it has one. Surrounding quotes are not part of it."""
    if header is None:
        return None
    key = header.strip()
    if len(key) > 1 and key[0] == key[-1] == '"':
        key = key[1:-1]
    if not _FORM.fullmatch(key):
        raise invalid(HEADER, "must be 1 to 255 visible ASCII characters")
    return key


def request_fingerprint(method: str, canonical_path: str, body: bytes) -> str:
    """A hash that is equal for two requests with the same method, path and body."""
    return hashlib.sha256(b"\n".join((method.encode(), canonical_path.encode(), body))).hexdigest()


def claim(
    connection: Connection, org_id: str, key_id: str, key: str, fingerprint: str, now_ms: int, confirmed_now_ms: int
) -> StoredAnswer | None:
    """Claims the key for this request: `None` if it is new, else the answer to repeat.

    An earlier claim expires by `confirmed_now_ms`, because a clock that is ahead would let requests run twice.

    Raises:
        Refusal: idempotency_key_reused when the key belongs to a different request.
        KeyInProgress: the key belongs to a request that has not ended.
    """
    mine = {"b_org": org_id, "b_key_id": key_id, "b_key": key}
    row = {"org_id": org_id, "key_id": key_id, "key": key, "fingerprint": fingerprint, "created_at": now_ms}
    try:
        connection.execute(_EXPIRE, {**mine, "b_before": confirmed_now_ms - LIFETIME_MS})
        if insert_ignoring_conflicts(connection, _TABLE, [row]):
            return None
        found = connection.execute(_FIND, mine).one()
    except DBAPIError as error:
        if is_locked(error):
            raise KeyInProgress("the idempotency key is in use") from error
        raise
    if found.fingerprint != fingerprint:
        raise Refusal(IDEMPOTENCY_KEY_REUSED, field=HEADER)
    return StoredAnswer(found.status, found.body.encode())


def store(connection: Connection, org_id: str, key_id: str, key: str, answer: StoredAnswer, *, personal: bool) -> None:
    """Keeps the answer with the key, in the transaction that made it.

    `personal`: it may hold something about a person who is called.
    """
    mine = {"b_org": org_id, "b_key_id": key_id, "b_key": key}
    kept = {"b_status": answer.status, "b_body": answer.body.decode(), "b_personal": personal}
    connection.execute(_STORE, {**mine, **kept})
