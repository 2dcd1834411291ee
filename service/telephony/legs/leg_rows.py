"""Legs: the rows that decide what is placed at a carrier. Each function is one transaction.

A carrier may ring a person for each request to place a call, and has no key by which it knows a repeated one. So a leg
is placed by the host that moved it from `new` to `placing`, in a transaction that was committed before the request,
and it is never moved back. If the answer to the request is lost, nobody knows whether the telephone rings: the leg is
looked for at the carrier (`reconciliation`), and what is not found becomes `unconfirmed`. Nobody places it again.

| state | meaning |
|---|---|
| `new` | claimed by the dialler; any host may take it |
| `placing` | the request to the carrier may have been sent |
| `placed` | the carrier has it, or has told something about it |
| `unconfirmed` | the carrier does not show it; if it rings in spite of that, it is over at a known moment |
| `ended` | it has a result; the row goes once the driver has recorded it |
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from pydantic import TypeAdapter
from sqlalchemy import ColumnElement, Connection, Row, and_, bindparam, delete, func, or_, select, update

from callwright.service.platform.database.concurrency import moment_of
from callwright.service.platform.database.inserts import insert_ignoring_conflicts
from callwright.service.tables.schema import calls, legs
from callwright.service.tables.schema.leases import LEGS
from callwright.service.telephony.engine import CallRequest, CallResult, EarlyEnd
from callwright.service.telephony.legs.leg_results import answered_after_all, not_dialled
from callwright.service.telephony.transfers import CallTransfer

LegState = Literal["new", "placing", "placed", "unconfirmed", "ended"]
LegStage = Literal["initiated", "ringing", "answered"]

_L = legs.c
_FIND = select(legs).where(_L.call_id == bindparam("b_call"))
_PROGRESS = select(
    *(column for column in _L if column.name not in ("request", "hang_up", "so_far", "person_call"))
).where(_L.call_id.in_(bindparam("b_calls", expanding=True)))
_HANG_UPS = select(_L.call_id, _L.hang_up).where(
    _L.lease_owner == bindparam("b_host"), _L.state != "ended", _L.hang_up.is_not(None)
)
_QUEUE_PLACES = select(_L.call_id, _L.queue_place).where(
    _L.lease_owner == bindparam("b_host"), _L.state != "ended", _L.queue_place.is_not(None)
)
_STAGE_COLUMNS = {"initiated": _L.initiated_at, "ringing": _L.ringing_at, "answered": _L.answered_at}


@cache
def _requests() -> TypeAdapter[CallRequest]:  # made when the first leg is: a start needs none
    return TypeAdapter(CallRequest)


@cache
def _results() -> TypeAdapter[CallResult]:
    return TypeAdapter(CallResult)


@cache
def _transfers() -> TypeAdapter[CallTransfer]:
    return TypeAdapter(CallTransfer)


@cache
def _ends() -> TypeAdapter[EarlyEnd]:
    return TypeAdapter(EarlyEnd)


def add(
    connection: Connection,
    carrier: str,
    request: CallRequest,
    now_ms: int,
    *,
    token_hash: str | None = None,
    provider_call_id: str | None = None,
) -> None:
    """Adds the leg of a call that was claimed, unless it has one. `token_hash` is that of the token by which a page
    opens it, see `use_token`, or that names a caller; `provider_call_id` is the carrier's id of a call that comes in.
    Who is to wait for a line has a place in the queue."""
    wait = None if request.answering is None else request.answering.wait
    row = {
        "call_id": request.call_id,
        "org_id": request.org_id,
        "deployment_id": request.deployment_id,
        "carrier": carrier,
        "state": "new",
        "request": _requests().dump_json(request).decode(),
        "created_at": now_ms,
        "token_hash": token_hash,
        "provider_call_id": provider_call_id,
        "queue_place": None if wait is None else wait.position,
    }
    insert_ignoring_conflicts(connection, legs, [row])


def has_token(connection: Connection, call_id: str, token_hash: str, *, made_after_ms: int) -> bool:
    """Whether a token opens the leg of a call now."""
    found = select(_L.call_id).where(*_opened_by(call_id, token_hash, made_after_ms))
    return connection.execute(found).first() is not None


def use_token(connection: Connection, call_id: str, token_hash: str, *, made_after_ms: int) -> bool:
    """Whether a token opens the leg of a call: once, while it waits to be taken, and not an old one."""
    used = update(legs).where(*_opened_by(call_id, token_hash, made_after_ms)).values(token_hash=None)
    return connection.execute(used).rowcount == 1


def _opened_by(call_id: str, token_hash: str, made_after_ms: int) -> tuple[ColumnElement[bool], ...]:
    is_it = _L.call_id == call_id, _L.token_hash == token_hash
    return *is_it, _L.state == "new", _L.created_at >= made_after_ms


def find(connection: Connection, call_id: str) -> Row[Any] | None:
    """The leg of a call."""
    return connection.execute(_FIND, {"b_call": call_id}).one_or_none()


def progress_of(connection: Connection, call_ids: Collection[str]) -> Mapping[str, Row[Any]]:
    """Legs by the ids of their calls, without their requests."""
    found = connection.execute(_PROGRESS, {"b_calls": list(call_ids)})
    return {row.call_id: row for row in found}


def request_of(leg: Row[Any]) -> CallRequest:
    """The request from which a leg was made."""
    return _requests().validate_json(leg.request)


def result_of(leg: Row[Any]) -> CallResult:
    """The result of a leg that has ended."""
    return _results().validate_json(leg.result)


def so_far_of(leg: Row[Any]) -> CallResult | None:
    """What is known of a leg that has not ended; None if nothing was said."""
    return None if leg.so_far is None else _results().validate_json(leg.so_far)


def transfer_of(leg: Row[Any]) -> CallTransfer | None:
    """The latest try to transfer a leg's call; None if there was none."""
    return None if leg.transfer is None else _transfers().validate_json(leg.transfer)


def transferred(connection: Connection, call_id: str, transfer: CallTransfer) -> None:
    """Keeps what has come of a transfer of a call that is carried."""
    kept = update(legs).where(_L.call_id == call_id, _L.state != "ended")
    connection.execute(kept.values(transfer=_transfers().dump_json(transfer).decode()))


def keep(connection: Connection, so_far: CallResult) -> None:
    """Keeps what is known of a leg while it is carried."""
    kept = update(legs).where(_L.call_id == so_far.call_id, _L.state != "ended")
    connection.execute(kept.values(so_far=_results().dump_json(so_far).decode()))


@dataclass(frozen=True)
class Wanted:
    """The legs that a host takes: those of these carriers that need no token, and those of these calls."""

    carriers: Collection[str]
    call_ids: Collection[str] = ()

    @property
    def are_new(self) -> ColumnElement[bool]:
        """That a leg is one of them, and waits for a host."""
        called = and_(_L.carrier.in_(self.carriers), _L.token_hash.is_(None))
        return and_(_L.state == "new", or_(called, _L.call_id.in_(self.call_ids)))


def take(
    connection: Connection, host: str, wanted: Wanted, most: int, *, now_ms: int, until_ms: int
) -> Sequence[Row[Any]]:
    """Leases up to `most` of the new legs that a host wants, the oldest first.

    A leg that another host took and did not begin to place may be taken once that host's lease has expired.
    """
    new = select(legs).where(wanted.are_new).order_by(_L.created_at).limit(most)
    return LEGS.take(connection, new, host, now_ms, until_ms)


def are_new(connection: Connection, wanted: Wanted) -> bool:
    """Whether a leg waits for a host that wants it."""
    return connection.execute(select(_L.call_id).where(wanted.are_new).limit(1)).first() is not None


def begin_placing(connection: Connection, call_id: str, host: str, now_ms: int) -> bool:
    """The fence: whether this host, and no other, may now send the request that places the leg.

    Commit it before the request. It is refused for a leg that another host has taken, that is being placed, or that is
    to be hung up.
    """
    changed = connection.execute(
        update(legs)
        .where(_L.call_id == call_id, _L.lease_owner == host, _L.state == "new", _L.hang_up.is_(None))
        .values(state="placing", placing_at=moment_of(connection, now_ms))
    )
    return changed.rowcount == 1


def reached(
    connection: Connection, call_id: str, stage: LegStage, at_ms: int, *, provider_call_id: str | None = None
) -> bool:
    """The carrier says that a leg has reached a stage; what it says twice or late changes nothing.

    It is true whoever has the leg, and also of one that was unconfirmed. Returns whether there is such a leg.
    """
    column = _STAGE_COLUMNS[stage]
    known = func.coalesce(_L.provider_call_id, provider_call_id)
    changed = connection.execute(
        update(legs)
        .where(_L.call_id == call_id, _L.state.in_(("placing", "placed", "unconfirmed")))
        .values(
            {
                _L.state: "placed",
                _L.provider_call_id: known,
                _L.initiated_at: func.coalesce(_L.initiated_at, at_ms),
                column: func.coalesce(column, at_ms),
            }
        )
    )
    return changed.rowcount == 1


def end(connection: Connection, result: CallResult, at_ms: int, *, only_in: Collection[LegState] = ()) -> bool:
    """Ends a leg with its result, if it has not ended, and is in one of the states `only_in` if there are any.

    A leg that somebody has answered ends as an answered call, whatever else its host knows. Whoever calls in is
    answered by the host itself, which knows what came of it.
    """
    is_open = _L.state.in_(only_in) if only_in else _L.state != "ended"
    found = select(_L.answered_at, _L.request).where(_L.call_id == result.call_id, is_open).with_for_update()
    leg = connection.execute(found).one_or_none()
    if leg is None:
        return False
    if leg.answered_at is not None and _requests().validate_json(leg.request).answering is None:
        result = answered_after_all(result)
    changed = update(legs).where(_L.call_id == result.call_id, is_open)
    connection.execute(changed.values(state="ended", ended_at=at_ms, result=_results().dump_json(result).decode()))
    return True


def not_confirmed(connection: Connection, call_id: str) -> None:
    """Nobody knows whether a leg was placed, and the carrier does not show it."""
    connection.execute(update(legs).where(_L.call_id == call_id, _L.state == "placing").values(state="unconfirmed"))


def ask_to_hang_up(connection: Connection, call_id: str, early: EarlyEnd, now_ms: int) -> None:
    """Asks the host of a leg to hang up, if nobody has asked before. A leg that is not yet being placed ends."""
    leg = find(connection, call_id)
    if leg is not None and end(connection, not_dialled(request_of(leg), early), now_ms, only_in=("new",)):
        return
    connection.execute(
        update(legs)
        .where(_L.call_id == call_id, _L.state != "ended", _L.hang_up.is_(None))
        .values(hang_up=_ends().dump_json(early).decode())
    )


def hang_ups_of(connection: Connection, host: str) -> Mapping[str, EarlyEnd]:
    """The legs of a host that it has been asked to hang up, and why."""
    found = connection.execute(_HANG_UPS, {"b_host": host})
    return {row.call_id: _ends().validate_json(row.hang_up) for row in found}


def queue_places_of(connection: Connection, host: str) -> Mapping[str, int]:
    """The places in the queue of a host's callers who wait, or have waited, for a line; 0: it is their turn."""
    return {row.call_id: row.queue_place for row in connection.execute(_QUEUE_PLACES, {"b_host": host})}


def renew(connection: Connection, host: str, call_ids: Collection[str], *, now_ms: int, until_ms: int) -> set[str]:
    """Renews a host's leases; the ids of those that are still its own. It waits for rows that others have locked."""
    return set(LEGS.renew(connection, call_ids, host, now_ms, until_ms, waits=True))


def are_lost(connection: Connection, host: str, now_ms: int) -> bool:
    """Whether there is a leg for `take_lost`."""
    found = select(_L.call_id).where(*_lost(host), LEGS.free(connection, host, now_ms)).limit(1)
    return connection.execute(found).first() is not None


def take_lost(connection: Connection, host: str, most: int, *, now_ms: int, until_ms: int) -> Sequence[Row[Any]]:
    """Leases legs that were placed, or perhaps, and whose host has not renewed its lease: as they were before."""
    lost = select(legs).where(*_lost(host)).order_by(_L.created_at).limit(most)
    return LEGS.take(connection, lost, host, now_ms, until_ms)


def _lost(host: str) -> tuple[ColumnElement[bool], ...]:
    return _L.state.in_(("placing", "placed", "unconfirmed")), _L.lease_owner != host


def age_ms(connection: Connection, leg: Row[Any], now_ms: int) -> int:
    """How long ago a leg began to be placed, by the clock that wrote that moment."""
    return connection.execute(select(moment_of(connection, now_ms) - leg.placing_at)).scalar_one()


def are_ended(connection: Connection) -> bool:
    """Whether a leg has ended that is not deleted yet."""
    return connection.execute(select(_L.call_id).where(_L.state == "ended").limit(1)).first() is not None


def forget_recorded(connection: Connection, most: int = 500) -> int:
    """Deletes legs whose calls are recorded, or were deleted; how many."""
    open_call = select(calls.c.id).where(calls.c.id == _L.call_id, calls.c.ended_at.is_(None)).exists()
    over = select(_L.call_id).where(_L.state == "ended", ~open_call).limit(most).scalar_subquery()
    return connection.execute(delete(legs).where(_L.call_id.in_(over))).rowcount
