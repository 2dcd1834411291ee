"""The secrets that sign pre-dial checks, one for each organization. A new one is shown once, where it is made.

An earlier secret goes on signing beside the new one for a day, so that a receiver can be changed without a gap.
"""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass

import orjson
from sqlalchemy import Connection, bindparam, select

from callwright.service.accounts import records
from callwright.service.platform.clock.clock import DAY
from callwright.service.platform.database.inserts import insert_ignoring_conflicts, upsert
from callwright.service.platform.ids import Ids
from callwright.service.tables.schema import service_state

OVERLAP_MS = DAY
PREFIX = "whsec_"
_BYTES = 32
_S = service_state.c
_FIND = select(_S.value).where(_S.name == bindparam("name"))


def predial_secrets(connection: Connection, org_id: str, now_ms: int) -> tuple[str, ...]:
    """The secrets that sign now, the present one first; none if none was made yet."""
    return tuple(one.text for one in _stored(connection, org_id) if one.until_ms is None or one.until_ms > now_ms)


def first_predial_secrets(connection: Connection, org_id: str, now_ms: int) -> tuple[str, ...]:
    """The same, after making one if there is none. Nobody knows it, so it only keeps requests from being unsigned."""
    insert_ignoring_conflicts(connection, service_state, [_row(org_id, [_new()])])
    return predial_secrets(connection, org_id, now_ms)


def renew_predial_secret(connection: Connection, ids: Ids, org_id: str, now_ms: int) -> str:
    """A new secret. The present one signs for another day, earlier ones no more."""
    made = _new()
    kept = [_Secret(one.text, now_ms + OVERLAP_MS) for one in _stored(connection, org_id) if one.until_ms is None]
    row = _row(org_id, [made, *kept])
    upsert(connection, service_state, [row], unique=(_S.name,), replaces=("value",), returning=(_S.name,))
    records.add_audit_entry(connection, ids, org_id, "predial_secret.renewed", org_id, now_ms, {})
    return made.text


@dataclass(frozen=True)
class _Secret:
    """A secret, and until when it signs; None for the present one."""

    text: str
    until_ms: int | None = None


def _new() -> _Secret:
    return _Secret(PREFIX + secrets.token_urlsafe(_BYTES))


def _row(org_id: str, found: Sequence[_Secret]) -> dict[str, str]:
    return {"name": _name(org_id), "value": orjson.dumps([[one.text, one.until_ms] for one in found]).decode()}


def _stored(connection: Connection, org_id: str) -> list[_Secret]:
    text = connection.execute(_FIND, {"name": _name(org_id)}).scalar()
    return [] if text is None else [_Secret(*one) for one in orjson.loads(text)]


def _name(org_id: str) -> str:
    return f"predial_secret {org_id}"
