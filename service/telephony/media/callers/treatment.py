"""What a caller gets before the agent answers, or in its place (call treatment): a wait in the queue, a mailbox, or
another telephone.

The caller hears what happens, in the agent's language. What they say meanwhile is in the transcript, and nobody answers
it; who asks for no more calls is heard all the same.
"""

import time
from collections.abc import Callable
from typing import Literal

from callwright.service.platform.phone import number_facts
from callwright.service.rules.opt_out_words import is_opt_out, is_opt_out_key
from callwright.service.telephony.answering import LONGEST_MESSAGE_S, Answering
from callwright.service.telephony.engine import CallRequest
from callwright.service.telephony.media.callers.tone import mailbox_tone
from callwright.service.telephony.media.findings import End
from callwright.service.telephony.media.policy import Saying
from callwright.service.telephony.media.talk import Talk
from callwright.service.telephony.media.transfers.hold_tone import EVERY_S as TONE_EVERY_S
from callwright.service.telephony.media.transfers.hold_tone import hold_tone
from callwright.service.telephony.transfers import Destination

PLACE_EVERY_S = 20.0
"""Seconds after which a caller who waits hears the place in the queue again."""
SILENT_S = 10.0
"""Silence in the mailbox that ends the message."""
Stage = Literal["queue", "voicemail", "forward"]


def stage_of(answering: Answering | None) -> Stage | None:
    """What a caller gets first; None if the agent answers at once."""
    if answering is None or (answering.action == "agent" and answering.wait is None):
        return None
    return "queue" if answering.action == "agent" else "forward" if answering.action == "forward" else "voicemail"


class Treatment:
    """The treatment of one caller. `tick` it some ten times a second."""

    def __init__(
        self,
        request: CallRequest,
        talk: Talk,
        stage: Stage,
        forward: Callable[[Destination], object],
        *,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """`forward` begins to put the caller through."""
        self._request, self._talk, self._forward, self._now = request, talk, forward, now
        self.stage: Stage = stage
        wait = request.answering.wait if request.answering else None
        self._place = 1 if wait is None else wait.position
        self._longest_s = 0.0 if wait is None else wait.longest_s
        self._began_at = self._placed_at = self._tone_at = self._heard_at = now()
        self._records = self._is_forwarded = False

    async def begin(self) -> None:
        """The caller is there, and hears the first words."""
        self._began_at = self._tone_at = self._now()
        if self._request.recording_announcement:  # the recording has begun with the call
            await self._talk.say(self._talk.phrases.of("recorded"))
        if self.stage == "queue":
            await self._say_place()
        elif self.stage == "forward":
            await self._talk.say(self._talk.phrases.of("forwarding"))
        else:
            for key in ("closed", "leave_message"):
                await self._talk.say(self._talk.phrases.of(key))

    async def moved(self, place: int) -> None:
        """The caller has another place in the queue; with 0 it is their turn."""
        if self.stage == "queue" and place != self._place:
            self._place = place
            if place:
                await self._say_place()

    async def _say_place(self) -> None:
        self._placed_at = self._now()
        said = self._talk.phrases.of("queue_position")
        await self._talk.say(Saying(said.text.replace("{0}", str(self._place)), said.language))

    async def tick(self, now: float, *, hears: bool) -> None:
        """Does what is due; the agent answers when it is the caller's turn. `hears`: the caller is speaking."""
        if self.stage == "queue":
            await self._wait(now)
        elif self.stage == "voicemail":
            await self._take_message(now, hears=hears)
        elif not self._talk.speaks and not self._is_forwarded:
            self._is_forwarded = True
            self._begin_forwarding()

    async def _wait(self, now: float) -> None:
        if not self._place:
            if not self._talk.speaks:
                await self._talk.answered()
        elif now - self._began_at >= self._longest_s:
            await self._talk.leave(self._talk.phrases.of("queue_busy", then="hang_up"), End("user_busy", "platform"))
        elif not self._talk.speaks and now - self._placed_at >= PLACE_EVERY_S:
            await self._say_place()
        elif not self._talk.speaks and now - self._tone_at >= TONE_EVERY_S:
            self._tone_at = now
            await self._talk.voice.play(hold_tone())

    async def _take_message(self, now: float, *, hears: bool) -> None:
        if not self._records:
            if not self._talk.speaks:
                self._records = True
                self._tone_at = self._heard_at = now
                await self._talk.voice.play(mailbox_tone())
            return
        if hears:
            self._heard_at = now
        if now - self._tone_at >= LONGEST_MESSAGE_S:
            await self._talk.leave(self._talk.phrases.of("close", then="hang_up"), End("max_duration", "platform"))
        elif now - self._heard_at >= SILENT_S:
            self._talk.finish("normal_clearing", "platform")

    def _begin_forwarding(self) -> None:
        to = self._request.answering.forward_to if self._request.answering else None
        country = number_facts(to or "").country
        # Where callers may be forwarded was decided when that was set.
        self._forward(Destination("", to, kind="cold", countries=(country,) if country else ()))

    def heard(self, text: str, *, keys: str) -> bool:
        """The caller has said or entered something. Returns whether the treatment takes it, as it always does."""
        self._heard_at = self._now()
        if is_opt_out_key([keys]) if keys else is_opt_out(text, self._request.agent.language):
            self._talk.findings.disposition = "do_not_call"
        return True
