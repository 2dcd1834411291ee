"""A caller who is put through to another telephone, which answers, is busy or does not."""

from callwright.contract.calls.calls import Outcome
from callwright.contract.transfers import TransferCause
from callwright.service.platform.phone import number_facts
from callwright.service.telephony.engine import CallRequest
from callwright.service.telephony.simulated.chance import Chance
from callwright.service.telephony.simulated.conversation.timeline import Timeline
from callwright.service.telephony.simulated.inbound.announcements import Announcements
from callwright.service.telephony.simulated.person import Person, PersonsAnswer
from callwright.service.telephony.simulated.reserved import LineOutcome, reserved
from callwright.service.telephony.simulated.steering import Steering
from callwright.service.telephony.simulated.talk import Talk
from callwright.service.telephony.transfers import Destination

_BY_OUTCOME: dict[Outcome | None, PersonsAnswer] = {"transferred": "answered", "busy": "busy", "no_answer": "no_answer"}
_BY_LINE: dict[LineOutcome, PersonsAnswer] = {
    "answered": "answered",
    "voicemail": "answered",
    "busy": "busy",
    "no_answer": "no_answer",
    "rejected": "rejected",
    "unreachable": "unreachable",
    "invalid_number": "unreachable",
}
_OUTCOMES: dict[TransferCause | None, Outcome] = {None: "transferred", "busy": "busy"}
"""Whatever else happened, nobody has answered."""


def forward(
    request: CallRequest,
    to: str | None,
    timeline: Timeline,
    announcements: Announcements,
    *,
    steering: Steering,
    chance: Chance,
) -> Talk:
    """Puts the caller through to the number. If nobody takes the call over there, the caller hears so."""
    announcements.say("forwarding")
    answer = steering.transfer or _BY_OUTCOME.get(steering.outcome)
    if to is None:
        answer = "unreachable"
    elif answer is None and (forced := reserved(to)) is not None:
        answer = _BY_LINE[forced.line_outcome]
    country = number_facts(to or "").country
    # Where callers may be forwarded was decided when that was set.
    destination = Destination("", to, kind="cold", countries=(country,) if country else ())
    transfer = Person(chance, answer).called(destination, timeline, request.to, None)
    if not transfer.is_bridged:
        announcements.say("forward_failed")
    return Talk(
        outcome=_OUTCOMES.get(transfer.cause, "no_answer"),
        hangup_cause="transfer_completed" if transfer.is_bridged else "transfer_failed",
        ended_by="platform",
        transfer=transfer,
    )
