"""The call to a person who is to take a call over, as a carrier tells of it: it is kept with the contact's leg.

A leg has one such call at a time. It has a token of its own, which stands in every address that the carrier is given
for it; a later try has another, so that what comes late says nothing about it. What the carrier tells is monotonic: a
stage that is known already changes nothing, and the first final status stays.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Literal

from pydantic import TypeAdapter
from sqlalchemy import Connection, Row, select, update

from callwright.service.platform.database.concurrency import moment_of
from callwright.service.tables.schema import legs

_L = legs.c
PersonStage = Literal["asked", "ringing", "answered", "taken"]
"""How far the person is: called, hears it ring, hears what it is about, has taken the call."""
_ORDER: tuple[PersonStage, ...] = ("asked", "ringing", "answered", "taken")


@dataclass(frozen=True)
class PersonCall:
    """The call to a person, and what the carrier has told of it."""

    token_hash: str = field(repr=False)
    room: str = field(repr=False)
    """Where contact and person meet at the carrier. Nobody can guess it."""
    language: str
    summary: str = field(default="", repr=False)
    """What the person hears first."""
    sorry: str = field(default="", repr=False)
    """What the contact hears when nobody takes over and the agent is gone."""
    confirm_key: str | None = None
    provider_call_id: str | None = None
    stage: PersonStage = "asked"
    status: str | None = None
    """The final one, in the carrier's own word."""
    sip_status: int | None = None
    missed: bool = False
    """The person was asked for the key, and did not press it."""
    is_over: bool = False
    """The person is wanted no more: a call that is not over is to be hung up."""


@cache
def _texts() -> TypeAdapter[PersonCall]:
    return TypeAdapter(PersonCall)


def person_of(text: str | None) -> PersonCall | None:
    """The call to a person that is stored with a leg."""
    return None if text is None else _texts().validate_json(text)


def begin(connection: Connection, call_id: str, person: PersonCall) -> bool:
    """Keeps a call that is about to be placed, before its request; whether the contact's leg goes on."""
    return _store(connection, call_id, person)


def change(
    connection: Connection, call_id: str, token_hash: str, changed: Callable[[PersonCall], PersonCall]
) -> PersonCall | None:
    """Changes what is known of the call with a token, and returns it; None if no leg has it any more."""
    leg = _leg(connection, call_id)
    person = None if leg is None else person_of(leg.person_call)
    if person is None or person.token_hash != token_hash:
        return None
    new = changed(person)
    if new != person:
        _store(connection, call_id, new)
    return new


def told(
    connection: Connection,
    call_id: str,
    token_hash: str,
    provider_call_id: str | None,
    *,
    stage: PersonStage = "asked",
    status: str | None = None,
    sip_status: int | None = None,
) -> PersonCall | None:
    """Takes what the carrier tells of the call: the stage that it has reached at least, and its final status.

    `provider_call_id` is None if the carrier does not name it. The answer is None if no leg has this call, or it is
    wanted no more: it is to be hung up.
    """

    def is_it(person: PersonCall) -> bool:
        return None in (person.provider_call_id, provider_call_id) or person.provider_call_id == provider_call_id

    def heard(person: PersonCall) -> PersonCall:
        if not is_it(person):
            return person
        return replace(
            person,
            provider_call_id=person.provider_call_id or provider_call_id,
            stage=max(person.stage, stage, key=_ORDER.index),
            status=person.status or status,
            sip_status=person.sip_status if person.status else sip_status,
        )

    person = change(connection, call_id, token_hash, heard)
    if person is None or person.is_over or not is_it(person):
        return None
    return person


def answered(
    connection: Connection,
    call_id: str,
    token_hash: str,
    provider_call_id: str,
    now_ms: int,
    *,
    stage: PersonStage = "answered",
) -> PersonCall | None:
    """The call somebody has answered, or taken; None if it is to hang up.

    It is None unless the person is wanted, the contact's leg goes on, nobody wants it hung up, and its host lives.
    """
    person = told(connection, call_id, token_hash, provider_call_id, stage=stage)
    lives = select(_L.call_id).where(
        _L.call_id == call_id, _L.hang_up.is_(None), _L.lease_until > moment_of(connection, now_ms)
    )
    return person if person is not None and connection.execute(lives).first() is not None else None


def missed(connection: Connection, call_id: str, token_hash: str) -> None:
    """The person did not press the key."""
    change(connection, call_id, token_hash, lambda person: replace(person, missed=True))


def over(connection: Connection, call_id: str, token_hash: str) -> None:
    """The person is wanted no more."""
    change(connection, call_id, token_hash, lambda person: replace(person, is_over=True))


def _leg(connection: Connection, call_id: str) -> Row[tuple[str | None]] | None:
    found = select(_L.person_call).where(_L.call_id == call_id, _L.state != "ended").with_for_update()
    return connection.execute(found).one_or_none()


def _store(connection: Connection, call_id: str, person: PersonCall) -> bool:
    kept = update(legs).where(_L.call_id == call_id, _L.state != "ended")
    return connection.execute(kept.values(person_call=_texts().dump_json(person).decode())).rowcount == 1
