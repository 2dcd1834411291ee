"""A caller who waits in a queue: hears the position, and is answered, hangs up, or hears that all lines are busy."""

import math

from callwright.service.telephony.answering import Wait
from callwright.service.telephony.simulated.conversation.timeline import Timeline
from callwright.service.telephony.simulated.inbound.announcements import Announcements
from callwright.service.telephony.simulated.talk import Talk

EVERY_S = 30.0
"""Seconds after which a caller hears the position again."""
_MOST_ANNOUNCEMENTS = 100
"""In a queue of hours the position is said less often."""
_NOT_RIGHT_BEFORE_S = 5.0
"""The position is not said any more when the wait is nearly over."""
_HANGS_UP_S = 1.0
"""Nobody hangs up at the very moment when a line is free."""
_LAST_SENTENCE_S = 12.0
"""Kept of the longest duration of a call for what the caller hears in the end."""

ABANDONED = Talk(outcome="abandoned", hangup_cause="contact_hangup", ended_by="contact")


def wait_for_line(wait: Wait, timeline: Timeline, announcements: Announcements, *, patience_s: float) -> Talk | None:
    """Waits until a line is free: returns None then, and else what has come of the call.

    The wait begins with the answer. A caller who has waited for `patience_s` hangs up, and one who has waited for the
    longest time of the queue hears that all lines are busy.
    """
    waits_s = wait.waits_s if wait.waits_s is not None and wait.waits_s >= 0 else math.inf
    longest_s = min(max(wait.longest_s, 0.0), max(timeline.limit_s - _LAST_SENTENCE_S, 0.0))
    end_s = min(waits_s, longest_s)
    every_s = max(EVERY_S, end_s / _MOST_ANNOUNCEMENTS)
    over = False
    while not over and not timeline.cut:
        announcements.say("queue_position", position=_position(wait.position, timeline.now_s, waits_s))
        next_s = timeline.now_s + every_s
        over = next_s > end_s - _NOT_RIGHT_BEFORE_S
        until_s = end_s if over else next_s
        leaves_s = max(patience_s, timeline.now_s)
        if leaves_s < min(until_s, end_s - _HANGS_UP_S):
            timeline.wait(leaves_s - timeline.now_s)
            return ABANDONED
        timeline.wait(max(until_s - timeline.now_s, 0.0))
    if waits_s <= longest_s and not timeline.cut:
        return None
    announcements.say("queue_busy")
    return Talk(outcome="busy", hangup_cause="user_busy", ended_by="platform")


def _position(first: int, waited_s: float, waits_s: float) -> int:
    """The position falls evenly to 1 while the caller waits; if nobody knows how long that takes, it stays."""
    left = 1.0 if math.isinf(waits_s) else 1.0 - waited_s / waits_s if waits_s else 0.0
    return max(math.ceil(first * left), 1)
