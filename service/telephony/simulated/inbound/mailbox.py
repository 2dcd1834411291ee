"""A caller to whom a mailbox speaks: leaves a message after the tone, or hangs up."""

from callwright.service.rules.opt_out_words import is_opt_out, is_opt_out_key
from callwright.service.telephony.answering import LONGEST_MESSAGE_S
from callwright.service.telephony.engine import CallRequest
from callwright.service.telephony.simulated.chance import Chance
from callwright.service.telephony.simulated.conversation.contact import Reply
from callwright.service.telephony.simulated.conversation.conversation import KEYPRESS_S
from callwright.service.telephony.simulated.conversation.persona import Persona
from callwright.service.telephony.simulated.conversation.timeline import Timeline
from callwright.service.telephony.simulated.inbound.announcements import Announcements
from callwright.service.telephony.simulated.inbound.caller import Caller
from callwright.service.telephony.simulated.steering import Steering
from callwright.service.telephony.simulated.talk import Talk

TONE_S = 1.0
_LEAVES_MESSAGE = 0.7
_NEVER_STOPS = 0.03
_SENTENCES = ((1, 0.5), (2, 0.3), (3, 0.2))
_MOST_TURNS = 400
"""Far more than fit into the longest message."""


def take_message(
    request: CallRequest,
    persona: Persona,
    caller: Caller,
    timeline: Timeline,
    announcements: Announcements,
    *,
    steering: Steering,
    chance: Chance,
) -> Talk:
    """Takes the message of a caller, which is ended after `LONGEST_MESSAGE_S`."""
    notices = ("recorded",) if request.recording_announcement else ()
    announcements.say("closed", "leave_message", *notices)
    timeline.wait(TONE_S)
    leaves, never_stops, sentences = (
        chance.happens(_LEAVES_MESSAGE),
        chance.happens(_NEVER_STOPS),
        chance.weighted(_SENTENCES),
    )
    if persona.keeps_intent:
        leaves, never_stops = persona.intent != "silent", False
    if steering.outcome is not None:
        leaves = steering.outcome == "voicemail_left"
    keys: list[str] = []
    if leaves:
        timeline.end_by(timeline.now_s + LONGEST_MESSAGE_S)
        said = caller.message(sentences)
        for reply in said:
            _add(reply, caller, timeline, keys)
        if never_stops:
            for _ in range(_MOST_TURNS):
                _add(caller.message_more(), caller, timeline, keys)
    message = [turn for turn in timeline.turns() if turn.speaker == "contact"]
    opts_out = is_opt_out_key(keys) or any(is_opt_out(turn.text, turn.language) for turn in message)
    return Talk(
        outcome="voicemail_left" if message else "voicemail",
        disposition="do_not_call" if opts_out else None,
        hangup_cause="contact_hangup",
        ended_by="contact",
        keys=tuple(keys),
    )


def _add(reply: Reply, caller: Caller, timeline: Timeline, keys: list[str]) -> None:
    if timeline.cut:
        return
    if reply.keys:
        timeline.wait(reply.gap_s + KEYPRESS_S)
        keys.append(reply.keys)
    timeline.say("contact", reply.text, caller.language, gap_s=reply.gap_s)
