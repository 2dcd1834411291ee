"""What a carrier tells of a leg in requests of its own: it comes to any process, late, twice and in any order.

A leg is opened to its carrier by a token that stands in every address which the carrier is given. What the carrier
tells is kept with the leg, whoever has it, and the host of the leg reads it there. It is monotonic: a stage or a status
that is known already changes nothing, and the first final status stays.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal

from pydantic import TypeAdapter
from sqlalchemy import Connection, bindparam, select, update

from callwright.service.platform.database.concurrency import moment_of
from callwright.service.tables.schema import legs
from callwright.service.telephony.engine import AnsweredBy
from callwright.service.telephony.legs import leg_rows
from callwright.service.telephony.legs.person_calls import PersonCall, person_of

_L = legs.c
_OF_TOKEN = select(legs).where(_L.call_id == bindparam("b_call"), _L.token_hash == bindparam("b_hash"))
_SAID = select(_L.call_id, _L.provider_call_id, _L.ringing_at, _L.answered_at, _L.carrier_said, _L.person_call).where(
    _L.call_id.in_(bindparam("b_calls", expanding=True))
)
_UNDER_WAY = ("placing", "placed", "unconfirmed")


@dataclass(frozen=True)
class CarrierSaid:
    """What a carrier has told of a call beyond its stages. `status` is the final one, in the carrier's own word."""

    status: str | None = None
    sip_status: int | None = None
    answered_by: AnsweredBy | None = None


@dataclass(frozen=True)
class LegNews:
    """What is known of a leg that the carrier has told about."""

    said: CarrierSaid
    rings: bool
    is_answered: bool
    person: PersonCall | None = None
    """The call to the person who is to take this one over."""


Heard = Literal["taken", "over", "another"]
"""What came of a report: taken; the leg is over, or there is none; it is about another call of the carrier."""


@cache
def _texts() -> TypeAdapter[CarrierSaid]:
    return TypeAdapter(CarrierSaid)


def open_to_carrier(connection: Connection, call_id: str, token_hash: str, host_url: str) -> None:
    """Has the carrier tell of a leg by a token, and bring its sound to a host. Part of the fence's transaction."""
    opened = update(legs).where(_L.call_id == call_id).values(token_hash=token_hash, host_url=host_url)
    connection.execute(opened)


def has_token(connection: Connection, call_id: str, token_hash: str) -> bool:
    """Whether a token is that of a leg."""
    return connection.execute(_OF_TOKEN, {"b_call": call_id, "b_hash": token_hash}).first() is not None


def record(
    connection: Connection,
    call_id: str,
    token_hash: str | None,
    provider_call_id: str,
    *,
    stage: leg_rows.LegStage,
    said: CarrierSaid,
    now_ms: int,
) -> Heard:
    """Takes what the carrier tells of one of its calls: the stage that it has reached at least, and what else it says.

    `token_hash` is None where the carrier was asked by the host of the leg.
    """
    found = select(legs).where(_L.call_id == call_id).with_for_update()
    if token_hash is not None:
        found = found.where(_L.token_hash == token_hash)
    leg = connection.execute(found).one_or_none()
    if leg is None or leg.state not in _UNDER_WAY:
        return "over"
    if leg.provider_call_id not in (None, provider_call_id):
        return "another"
    if stage != "ringing" or leg.answered_at is None:  # a late word of ringing says nothing after the answer
        leg_rows.reached(connection, call_id, stage, now_ms, provider_call_id=provider_call_id)
    known = _said(leg.carrier_said)
    merged = CarrierSaid(
        status=known.status or said.status,
        sip_status=known.sip_status if known.status else said.sip_status,
        answered_by=known.answered_by or said.answered_by,
    )
    if merged != known:
        changed = update(legs).where(_L.call_id == call_id)
        connection.execute(changed.values(carrier_said=_texts().dump_json(merged).decode()))
    return "taken"


def answered(connection: Connection, call_id: str, token_hash: str, provider_call_id: str, now_ms: int) -> str | None:
    """Where the carrier brings the sound of a call that somebody has answered; None if it is to hang up.

    The second fence: it is None unless the leg goes on, this is the call of the carrier that the leg knows or the first
    one that is answered with its token, nobody wants it hung up, and its host lives.
    """
    said = CarrierSaid()
    heard = record(connection, call_id, token_hash, provider_call_id, stage="answered", said=said, now_ms=now_ms)
    if heard != "taken":
        return None
    lives = select(_L.host_url).where(
        _L.call_id == call_id, _L.hang_up.is_(None), _L.lease_until > moment_of(connection, now_ms)
    )
    return connection.execute(lives).scalar()


def answered_caller(
    connection: Connection, call_id: str, token_hash: str, provider_call_id: str, now_ms: int
) -> str | None:
    """Where the carrier brings the sound of a call that has come in, by this token from now on; None if it is refused.

    The leg has the carrier's id of the call since it was added.
    """
    known = _L.call_id == call_id, _L.provider_call_id == provider_call_id, _L.state.in_(_UNDER_WAY)
    connection.execute(update(legs).where(*known).values(token_hash=token_hash))
    return answered(connection, call_id, token_hash, provider_call_id, now_ms)


def news_of(connection: Connection, call_ids: Collection[str]) -> Mapping[str, LegNews]:
    """What is known of legs, by the ids of their calls."""
    found = connection.execute(_SAID, {"b_calls": list(call_ids)})
    return {
        row.call_id: LegNews(
            _said(row.carrier_said),
            rings=row.ringing_at is not None,
            is_answered=row.answered_at is not None,
            person=person_of(row.person_call),
        )
        for row in found
    }


def _said(text: str | None) -> CarrierSaid:
    return CarrierSaid() if text is None else _texts().validate_json(text)
