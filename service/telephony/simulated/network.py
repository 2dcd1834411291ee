"""The simulated telephone network: computes the result of a call, without a clock, waiting, input or output."""

import math
from collections.abc import Iterator, Sequence
from typing import cast

from callwright.contract.calls.calls import Disposition, Outcome
from callwright.service.rules.prices.transfer_prices import TransferLeg, legs_until
from callwright.service.rules.spoken_moments.spoken_moment import SpokenMoment
from callwright.service.rules.templates import placeholders_in, values_of
from callwright.service.telephony.engine import AnsweredBy, CallRequest, CallResult, EndedBy, HangupCause
from callwright.service.telephony.simulated.chance import Chance, key_of
from callwright.service.telephony.simulated.conversation.contact import Contact
from callwright.service.telephony.simulated.conversation.conversation import Conversation
from callwright.service.telephony.simulated.conversation.persona import draw_persona
from callwright.service.telephony.simulated.conversation.phrases import bank_of
from callwright.service.telephony.simulated.conversation.placeholders import with_plain_placeholders
from callwright.service.telephony.simulated.conversation.timeline import Timeline
from callwright.service.telephony.simulated.conversation.welcome import agent_chance, attempt_key
from callwright.service.telephony.simulated.machine import leave_on_machine, meet_menu
from callwright.service.telephony.simulated.person import Person, PersonsAnswer
from callwright.service.telephony.simulated.reachability import (
    DEFAULT_PROFILE,
    ReachabilityProfile,
    RingTiming,
    is_possible,
    line_outcome_of,
    ring_timing,
)
from callwright.service.telephony.simulated.reserved import LineOutcome, ReservedNumber, reserved
from callwright.service.telephony.simulated.steering import Steering, read_steering
from callwright.service.telephony.transfers import NOBODY_SET, CallTransfer, destinations_in

_NEVER_CONNECTED: dict[LineOutcome, tuple[Outcome, HangupCause]] = {
    "no_answer": ("no_answer", "no_answer"),
    "busy": ("busy", "user_busy"),
    "rejected": ("rejected", "call_rejected"),
    "invalid_number": ("invalid_number", "unallocated_number"),
    "unreachable": ("unreachable", "network_error"),
}
_FORCED_ANSWERS: dict[Outcome | None, PersonsAnswer] = {"transferred": "answered", "answered": "no_answer"}
"""What the person does to whom a call is transferred whose outcome is forced, if nothing else is."""
_NO_DESTINATION = (
    "The agent has no destination to transfer calls to (the call tool transfer): on a line it says that a colleague "
    "calls back."
)
_LINE_OUTCOMES: dict[Outcome, LineOutcome] = {
    "answered": "answered",
    "transferred": "answered",
    "abandoned": "answered",
    "fax_or_ivr": "answered",
    "voicemail": "voicemail",
    "voicemail_left": "voicemail",
    "no_answer": "no_answer",
    "busy": "busy",
    "rejected": "rejected",
    "invalid_number": "invalid_number",
    "unreachable": "unreachable",
    "cancelled": "no_answer",
    "failed": "unreachable",
}


def simulate(request: CallRequest, profile: ReachabilityProfile = DEFAULT_PROFILE) -> CallResult:
    """The result of a call.

    The same seed, number, attempt, steering, agent and variables give the same result, whatever the ids, the order of
    calls, the process or the version of Python. Does not raise for any valid request.
    """
    steering = read_steering(request.steering)
    forced = reserved(request.to)
    person = key_of(request.seed, request.to)
    moment = attempt_key(request)
    line = Chance(moment, "line")
    if not is_possible(request.to):
        return _unconnected(request, ring_timing("invalid_number", line, timeout_s=request.ring_timeout_s), steering)
    outcome = steering.outcome
    if outcome in ("blocked", "expired"):
        return _never_dialled(request, outcome, steering)
    chosen = _LINE_OUTCOMES[outcome] if outcome else forced.line_outcome if forced else None
    line_outcome = chosen or line_outcome_of(profile, person=Chance(person, "line"), moment=line)
    if forced is not None and outcome is not None:
        talks = forced.line_outcome == "answered" and outcome in ("answered", "transferred")
        forced = forced if talks else None
    timing = ring_timing(line_outcome, line, timeout_s=request.ring_timeout_s, must_answer=chosen is not None)
    if outcome == "cancelled":
        return _cancelled(request, timing, steering)
    if timing.answered_s is None:
        return _unconnected(request, timing, steering)
    return _connected(request, timing, timing.answered_s, steering, forced, person, moment)


def _never_dialled(request: CallRequest, outcome: Outcome, steering: Steering) -> CallResult:
    return CallResult(
        call_id=request.call_id,
        outcome=outcome,
        hangup_cause="originator_cancel",
        ended_by="platform",
        warnings=tuple(_warnings(request, steering)),
    )


def _cancelled(request: CallRequest, timing: RingTiming, steering: Steering) -> CallResult:
    ringing_s = timing.ringing_s or timing.initiated_s
    return CallResult(
        call_id=request.call_id,
        outcome="cancelled",
        hangup_cause="originator_cancel",
        ended_by="api",
        initiated_s=timing.initiated_s,
        ringing_s=timing.ringing_s,
        ended_s=round(ringing_s + 0.5 * (timing.ended_s - ringing_s), 3),
        warnings=tuple(_warnings(request, steering)),
    )


def _unconnected(request: CallRequest, timing: RingTiming, steering: Steering) -> CallResult:
    outcome, cause = _NEVER_CONNECTED[timing.line_outcome]
    ended_by: EndedBy = "platform" if outcome == "no_answer" else "contact" if outcome == "rejected" else "carrier"
    if steering.outcome == "failed" and outcome == "unreachable":
        outcome = "failed"
    return CallResult(
        call_id=request.call_id,
        outcome=outcome,
        hangup_cause=cause,
        ended_by=ended_by,
        initiated_s=timing.initiated_s,
        ringing_s=timing.ringing_s,
        ended_s=timing.ended_s,
        warnings=tuple(_warnings(request, steering)),
    )


def _connected(
    request: CallRequest,
    timing: RingTiming,
    answered_s: float,
    steering: Steering,
    forced: ReservedNumber | None,
    person: bytes,
    moment: bytes,
) -> CallResult:
    # Rounded down to milliseconds, so that a call is never longer than allowed.
    limit_s = max(math.floor(request.max_duration_s * 1_000), 1) / 1_000
    timeline = Timeline(limit_s)
    words = agent_chance(request)
    language = steering.language or request.agent.language
    warnings = list(_warnings(request, steering))
    request = with_plain_placeholders(request)
    unanswered: tuple[str, ...] = ()
    callback_after_s: float | None = None
    callback_said: SpokenMoment | None = None
    keys: tuple[str, ...] = ()
    transfer: CallTransfer | None = None
    legs: Sequence[TransferLeg] = ()
    outcome: Outcome
    disposition: Disposition | None
    cause: HangupCause
    ended_by: EndedBy
    answered_by: AnsweredBy
    if timing.line_outcome == "voicemail":
        outcome, disposition, cause, ended_by, answered_by = leave_on_machine(
            request, timeline, language=language, words=words, steering=steering, warnings=warnings
        )
    elif steering.outcome == "fax_or_ivr":
        meet_menu(request, timeline, language=language, words=words)
        outcome, disposition, cause, ended_by, answered_by = "fax_or_ivr", None, "agent_hangup", "agent", "unknown"
    else:
        persona = draw_persona(
            steering,
            forced,
            agent_language=request.agent.language,
            wants_transfer=steering.outcome == "transferred" or steering.transfer is not None,
            person=Chance(person, "persona"),
            moment=Chance(moment, "persona"),
        )
        contact = Contact(persona, Chance(moment, "contact"))
        if steering.outcome == "abandoned":
            timeline.say("contact", contact.opening().text, contact.language, gap_s=0.4)
            timeline.wait(2.0)
            outcome, disposition, cause, ended_by, answered_by = "abandoned", None, "contact_hangup", "contact", "human"
        else:
            is_forced = steering.outcome == "transferred"
            taking_over = Person(Chance(moment, "transfer"), steering.transfer or _FORCED_ANSWERS.get(steering.outcome))
            destinations = destinations_in(request.agent.call_tools, request.variables)
            takes_over = is_forced and steering.transfer in (None, "answered")
            if not destinations and (is_forced or steering.transfer is not None):
                destinations = (NOBODY_SET,) if takes_over else ()
                warnings.append(_NO_DESTINATION)
            talk = Conversation(request, contact, timeline, words, person=taking_over, destinations=destinations)
            ending = talk.run()
            transfer, legs = talk.transfer, taking_over.legs
            cause, ended_by = ending.hangup_cause, ending.ended_by
            if takes_over and transfer is None:
                at_s = min(timeline.now_s, limit_s)
                transfer = CallTransfer(kind="warm", to=None, status="bridged", started_s=at_s, at_s=at_s)
            elif transfer is not None and transfer.is_bridged:
                cause = "transfer_completed"
            outcome = "transferred" if transfer is not None and transfer.is_bridged else "answered"
            disposition = "escalated" if is_forced else ending.disposition
            answered_by = "human" if ending.met_person else "unknown"
            unanswered = tuple(ending.unanswered_questions)
            callback_after_s, callback_said = ending.callback_after_s, ending.callback_said
            keys = tuple(ending.keys)
            warnings += ending.warnings
        if persona.language != request.agent.language and bank_of(persona.language) is None:
            warnings.append(f"There are no phrases in '{persona.language}': the contact speaks English.")
    if timeline.cut:
        talked_s, cause, ended_by = limit_s, cast("HangupCause", "max_duration"), cast("EndedBy", "platform")
    else:
        talked_s = min(timeline.now_s + words.between(0.3, 0.8), limit_s)
    return CallResult(
        call_id=request.call_id,
        outcome=outcome,
        disposition=disposition,
        hangup_cause=cause,
        ended_by=ended_by,
        answered_by=answered_by,
        initiated_s=timing.initiated_s,
        ringing_s=timing.ringing_s,
        answered_s=answered_s,
        ended_s=round(answered_s + talked_s, 3),
        turns=timeline.turns(),
        keys=keys,
        unanswered_questions=unanswered,
        warnings=tuple(dict.fromkeys(warnings)),
        callback_after_s=callback_after_s,
        callback_said=callback_said,
        transfer=transfer,
        transfer_legs=legs_until(legs, talked_s),
    )


def _warnings(request: CallRequest, steering: Steering) -> Iterator[str]:
    """Warnings about the request that do not depend on whether anybody answers."""
    yield from steering.problems
    agent, variables = request.agent, request.variables
    templates = [agent.welcome_message, agent.system_prompt]
    if request.voicemail.detection and request.voicemail.action == "leave_message":
        templates.append(request.voicemail.message)
    missing: dict[str, None] = {}
    for template in templates:
        places = placeholders_in(template)
        values = values_of(places, variables) if places else ()
        missing.update((place.name, None) for place, value in zip(places, values, strict=True) if value is None)
    for name in missing:
        yield f"The variable '{name}' has no value for this contact."
