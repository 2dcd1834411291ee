"""The simulated telephone network: computes the result of a call, without a clock, waiting, input or output."""

from callwright.contract.calls.calls import Outcome
from callwright.service.telephony.engine import CallRequest, CallResult, EndedBy, HangupCause
from callwright.service.telephony.simulated.chance import Chance, key_of
from callwright.service.telephony.simulated.conversation.contact import Contact
from callwright.service.telephony.simulated.conversation.persona import draw_persona
from callwright.service.telephony.simulated.conversation.placeholders import with_plain_placeholders
from callwright.service.telephony.simulated.conversation.timeline import Timeline
from callwright.service.telephony.simulated.conversation.welcome import agent_chance, attempt_key
from callwright.service.telephony.simulated.inbound.answering import simulate_answering
from callwright.service.telephony.simulated.machine import leave_on_machine, meet_menu
from callwright.service.telephony.simulated.reachability import (
    DEFAULT_PROFILE,
    ReachabilityProfile,
    RingTiming,
    is_possible,
    line_outcome_of,
    ring_timing,
)
from callwright.service.telephony.simulated.request_warnings import language_warnings, warnings_of
from callwright.service.telephony.simulated.reserved import LineOutcome, ReservedNumber, reserved
from callwright.service.telephony.simulated.steering import Steering, read_steering
from callwright.service.telephony.simulated.talk import Talk, ended_call, longest_s, talk_with

_NEVER_CONNECTED: dict[LineOutcome, tuple[Outcome, HangupCause]] = {
    "no_answer": ("no_answer", "no_answer"),
    "busy": ("busy", "user_busy"),
    "rejected": ("rejected", "call_rejected"),
    "invalid_number": ("invalid_number", "unallocated_number"),
    "unreachable": ("unreachable", "network_error"),
}
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
    """The result of a call that is made, or of one that has come in.

    The same seed, number, attempt, steering, agent and variables give the same result, whatever the ids, the order of
    calls, the process or the version of Python. Does not raise for any valid request.
    """
    if request.answering is not None:
        return simulate_answering(request, request.answering)
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
    return _connected(request, timing, steering, forced, person, moment)


def _never_dialled(request: CallRequest, outcome: Outcome, steering: Steering) -> CallResult:
    return CallResult(
        call_id=request.call_id,
        outcome=outcome,
        hangup_cause="originator_cancel",
        ended_by="platform",
        warnings=tuple(warnings_of(request, steering)),
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
        warnings=tuple(warnings_of(request, steering)),
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
        warnings=tuple(warnings_of(request, steering)),
    )


def _connected(
    request: CallRequest,
    timing: RingTiming,
    steering: Steering,
    forced: ReservedNumber | None,
    person: bytes,
    moment: bytes,
) -> CallResult:
    timeline = Timeline(longest_s(request))
    words = agent_chance(request)
    language = steering.language or request.agent.language
    warnings = list(warnings_of(request, steering))
    request = with_plain_placeholders(request)
    if timing.line_outcome == "voicemail":
        outcome, disposition, cause, ended_by, answered_by = leave_on_machine(
            request, timeline, language=language, words=words, steering=steering, warnings=warnings
        )
        talk = Talk(
            outcome=outcome, disposition=disposition, hangup_cause=cause, ended_by=ended_by, answered_by=answered_by
        )
    elif steering.outcome == "fax_or_ivr":
        meet_menu(request, timeline, language=language, words=words)
        talk = Talk(outcome="fax_or_ivr", hangup_cause="agent_hangup", ended_by="agent", answered_by="unknown")
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
            talk = Talk(outcome="abandoned", hangup_cause="contact_hangup", ended_by="contact", answered_by="human")
        else:
            talk = talk_with(contact, request, timeline, words=words, moment=moment, steering=steering)
        warnings += talk.warnings
        warnings += language_warnings(persona, request)
    return ended_call(request, timing, timeline, talk, words=words, warnings=warnings)
