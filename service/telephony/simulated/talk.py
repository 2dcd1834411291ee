"""A conversation with a person, and what came of the call by it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from callwright.contract.calls.calls import Disposition, Outcome
from callwright.service.rules.prices.transfer_prices import TransferLeg, legs_until
from callwright.service.rules.spoken_moments.spoken_moment import SpokenMoment
from callwright.service.telephony.engine import AnsweredBy, CallRequest, CallResult, EndedBy, HangupCause
from callwright.service.telephony.simulated.chance import Chance
from callwright.service.telephony.simulated.conversation.contact import Contact
from callwright.service.telephony.simulated.conversation.conversation import Conversation
from callwright.service.telephony.simulated.conversation.timeline import Timeline
from callwright.service.telephony.simulated.person import Person, PersonsAnswer
from callwright.service.telephony.simulated.reachability import RingTiming
from callwright.service.telephony.simulated.steering import Steering
from callwright.service.telephony.transfers import NOBODY_SET, CallTransfer, destinations_in

_FORCED_ANSWERS: dict[Outcome | None, PersonsAnswer] = {"transferred": "answered", "answered": "no_answer"}
"""What the person does to whom a call is transferred whose outcome is forced, if nothing else is."""

_NO_DESTINATION = (
    "The agent has no destination to transfer calls to (the call tool transfer): on a line it says that a colleague "
    "calls back."
)


@dataclass(frozen=True, kw_only=True)
class Talk:
    """What came of a call by what was said on it. `CallResult` says what the fields mean."""

    outcome: Outcome
    hangup_cause: HangupCause
    ended_by: EndedBy
    disposition: Disposition | None = None
    answered_by: AnsweredBy | None = None
    unanswered_questions: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    callback_after_s: float | None = None
    callback_said: SpokenMoment | None = None
    transfer: CallTransfer | None = None
    transfer_legs: tuple[TransferLeg, ...] = ()
    warnings: tuple[str, ...] = ()


def talk_with(
    contact: Contact,
    request: CallRequest,
    timeline: Timeline,
    *,
    words: Chance,
    moment: bytes,
    steering: Steering,
) -> Talk:
    """Talks with the contact until somebody hangs up or the time is over, and transfers the call if it is to be.

    The request has plain placeholders.
    """
    is_forced = steering.outcome == "transferred"
    taking_over = Person(Chance(moment, "transfer"), steering.transfer or _FORCED_ANSWERS.get(steering.outcome))
    destinations = destinations_in(request.agent.call_tools, request.variables)
    takes_over = is_forced and steering.transfer in (None, "answered")
    warnings: list[str] = []
    if not destinations and (is_forced or steering.transfer is not None):
        destinations = (NOBODY_SET,) if takes_over else ()
        warnings.append(_NO_DESTINATION)
    conversation = Conversation(request, contact, timeline, words, person=taking_over, destinations=destinations)
    ending = conversation.run()
    transfer, cause = conversation.transfer, ending.hangup_cause
    if takes_over and transfer is None:
        at_s = min(timeline.now_s, timeline.limit_s)
        transfer = CallTransfer(kind="warm", to=None, status="bridged", started_s=at_s, at_s=at_s)
    elif transfer is not None and transfer.is_bridged:
        cause = "transfer_completed"
    return Talk(
        outcome="transferred" if transfer is not None and transfer.is_bridged else "answered",
        disposition="escalated" if is_forced else ending.disposition,
        hangup_cause=cause,
        ended_by=ending.ended_by,
        answered_by="human" if ending.met_person else "unknown",
        unanswered_questions=tuple(ending.unanswered_questions),
        keys=tuple(ending.keys),
        callback_after_s=ending.callback_after_s,
        callback_said=ending.callback_said,
        transfer=transfer,
        transfer_legs=tuple(taking_over.legs),
        warnings=(*warnings, *ending.warnings),
    )


def longest_s(request: CallRequest) -> float:
    """The longest duration of a call. Rounded down to milliseconds, so that a call is never longer than allowed."""
    return max(math.floor(request.max_duration_s * 1_000), 1) / 1_000


def ended_call(
    request: CallRequest,
    timing: RingTiming,
    timeline: Timeline,
    talk: Talk,
    *,
    words: Chance,
    warnings: Sequence[str],
) -> CallResult:
    """The result of a call that was answered. If its time was over, that is why it ended."""
    cause, ended_by = talk.hangup_cause, talk.ended_by
    if timeline.cut:
        talked_s, cause, ended_by = timeline.now_s, "max_duration", "platform"
    else:
        talked_s = min(timeline.now_s + words.between(0.3, 0.8), timeline.limit_s)
    answered_s = timing.ended_s
    return CallResult(
        call_id=request.call_id,
        outcome=talk.outcome,
        disposition=talk.disposition,
        hangup_cause=cause,
        ended_by=ended_by,
        answered_by=talk.answered_by,
        initiated_s=timing.initiated_s,
        ringing_s=timing.ringing_s,
        answered_s=answered_s,
        ended_s=round(answered_s + talked_s, 3),
        turns=timeline.turns(),
        keys=talk.keys,
        unanswered_questions=talk.unanswered_questions,
        warnings=tuple(dict.fromkeys(warnings)),
        callback_after_s=talk.callback_after_s,
        callback_said=talk.callback_said,
        transfer=talk.transfer,
        transfer_legs=legs_until(talk.transfer_legs, talked_s),
    )
