"""Answers a call that has come in on the simulated network, and computes its result."""

from dataclasses import replace

from callwright.contract.calls.calls import Outcome
from callwright.service.telephony.answering import Answering, AnsweringAction, Wait
from callwright.service.telephony.engine import CallRequest, CallResult
from callwright.service.telephony.refused_callers import refused_call
from callwright.service.telephony.simulated.chance import Chance, key_of
from callwright.service.telephony.simulated.conversation.persona import Persona
from callwright.service.telephony.simulated.conversation.placeholders import with_plain_placeholders
from callwright.service.telephony.simulated.conversation.timeline import Timeline
from callwright.service.telephony.simulated.conversation.welcome import agent_chance, attempt_key
from callwright.service.telephony.simulated.inbound.announcements import Announcements
from callwright.service.telephony.simulated.inbound.caller import Caller, draw_caller, patience_s
from callwright.service.telephony.simulated.inbound.forwarding import forward
from callwright.service.telephony.simulated.inbound.mailbox import take_message
from callwright.service.telephony.simulated.inbound.queue import wait_for_line
from callwright.service.telephony.simulated.reachability import RingTiming
from callwright.service.telephony.simulated.request_warnings import language_warnings, warnings_of
from callwright.service.telephony.simulated.steering import CALLERS, Steering, read_steering
from callwright.service.telephony.simulated.talk import Talk, ended_call, longest_s, talk_with

POSSIBLE: dict[AnsweringAction, tuple[Outcome, ...]] = {
    "agent": ("answered", "transferred", "abandoned"),
    "voicemail": ("voicemail", "voicemail_left", "abandoned"),
    "forward": ("transferred", "busy", "no_answer", "abandoned"),
    "reject": (),
}
"""The outcomes that steering can choose, by how the call is answered."""
SHORT_WAIT_S = 10.0
"""Who is to give up does so while it rings, if the wait is shorter."""


def simulate_answering(request: CallRequest, answering: Answering) -> CallResult:
    """The result of a call that has come in.

    The same seed, caller, number, attempt, steering, agent, variables and answering give the same result. Does not
    raise for any valid request. All callers without a number are one caller, so their calls need seeds of their own.
    """
    steering = _possible(read_steering(request.steering, CALLERS), answering.action)
    moment = attempt_key(request)
    line = Chance(moment, "line")
    if answering.action == "reject":
        return replace(refused_call(request, answering.reject_reason), warnings=steering.problems)
    timing = _rings(line)
    wait = _wait_after_answer(answering.wait, timing)
    if steering.outcome == "abandoned" and (wait is None or _queues_s(wait) < SHORT_WAIT_S):
        return _hung_up_while_it_rings(request, timing, steering)
    warnings = list(warnings_of(request, steering) if answering.action == "agent" else steering.problems)
    request = with_plain_placeholders(request)
    timeline, words = Timeline(longest_s(request)), agent_chance(request)
    # Nobody knows who calls without a number.
    who = key_of(request.seed, request.from_) if request.from_ else moment
    persona = draw_caller(
        steering,
        request.from_,
        agent_language=request.agent.language,
        person=Chance(who, "persona"),
        moment=Chance(moment, "persona"),
    )
    warnings += language_warnings(persona, request)
    caller = Caller(persona, Chance(moment, "contact"))
    announcements = Announcements(request, timeline, words)
    talk: Talk | None = None
    if wait is not None:
        patience = _patience_s(wait, persona, steering, line)
        talk = wait_for_line(wait, timeline, announcements, patience_s=patience)
    if talk is None and answering.action == "voicemail":
        chance = Chance(moment, "mailbox")
        talk = take_message(request, persona, caller, timeline, announcements, steering=steering, chance=chance)
    elif talk is None and answering.action == "forward":
        chance = Chance(moment, "transfer")
        talk = forward(request, answering.forward_to, timeline, announcements, steering=steering, chance=chance)
    elif talk is None:
        talk = talk_with(caller, request, timeline, words=words, moment=moment, steering=steering)
    # Somebody without a number cannot be called back. Nobody but the agent has answered.
    callback_after_s = talk.callback_after_s if request.from_ else None
    talk = replace(talk, callback_after_s=callback_after_s, answered_by=None)
    return ended_call(request, timing, timeline, talk, words=words, warnings=[*warnings, *talk.warnings])


def _possible(steering: Steering, action: AnsweringAction) -> Steering:
    """The steering without an outcome that a call that is answered so cannot have."""
    outcome, possible = steering.outcome, POSSIBLE[action]
    if outcome is None or outcome in possible:
        return steering
    allowed = f"; allowed are {', '.join(possible)}" if possible else ""
    problem = f"sim.outcome cannot be '{outcome}' on a call that is answered by {action}{allowed}."
    return replace(steering, outcome=None, problems=(*steering.problems, problem))


def _rings(chance: Chance) -> RingTiming:
    """A ring or two."""
    ringing_s = round(chance.between(0.05, 0.3), 3)
    answered_s = round(ringing_s + chance.between(2.0, 7.0), 3)
    return RingTiming("answered", 0.0, ringing_s, answered_s, answered_s)


def _wait_after_answer(wait: Wait | None, timing: RingTiming) -> Wait | None:
    """The wait as it is when the call is answered; None if a line is free by then."""
    if wait is None or wait.waits_s is None:
        return wait
    left_s = wait.waits_s - timing.ended_s
    return replace(wait, waits_s=left_s) if left_s > 0 else None


def _queues_s(wait: Wait) -> float:
    return wait.longest_s if wait.waits_s is None else min(wait.waits_s, wait.longest_s)


def _patience_s(wait: Wait, persona: Persona, steering: Steering, chance: Chance) -> float:
    """When a caller who waits hangs up. A steered outcome decides whether it does."""
    drawn, share = patience_s(persona, steering, chance), chance.between(0.2, 0.8)
    if steering.outcome is None:
        return drawn
    return min(drawn, share * _queues_s(wait)) if steering.outcome == "abandoned" else float("inf")


def _hung_up_while_it_rings(request: CallRequest, timing: RingTiming, steering: Steering) -> CallResult:
    return CallResult(
        call_id=request.call_id,
        outcome="abandoned",
        hangup_cause="contact_hangup",
        ended_by="contact",
        initiated_s=timing.initiated_s,
        ringing_s=timing.ringing_s,
        ended_s=round(timing.ended_s - 0.5, 3),
        warnings=steering.problems,
    )
