"""The transfers of a live call: who is called, what the contact hears meanwhile, and what has come of it."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import anyio

from callwright.contract.transfers import MOST_TRANSFERS, TransferCause, TransferStatus
from callwright.service.telephony.engine import CallRequest
from callwright.service.telephony.media.messages import PersonOnLine, Transferring
from callwright.service.telephony.media.other_side import Gone, OtherSide
from callwright.service.telephony.media.sound.sound_clock import SoundClock
from callwright.service.telephony.media.talk import Talk
from callwright.service.telephony.media.transfers.hold_tone import EVERY_S, TONE_S, hold_tone
from callwright.service.telephony.media.transfers.means import NotTransferred, TransferMeans, Wanted
from callwright.service.telephony.media.transfers.time_on_line import TimeOnLine
from callwright.service.telephony.media.turns.transcript import Transcript
from callwright.service.telephony.transfers import CallTransfer, Destination, destinations_in

_WORD_EVERY = 3
"""After so many tones a word is said."""
_LONGEST_SAYING_S = 15.0
_LOOK_S = 0.1


class Handover:
    """The transfers of one call. `connect` gives what transfers it, once its other side is there."""

    def __init__(
        self,
        request: CallRequest,
        talk: Talk,
        *,
        transcript: Transcript,
        clock: SoundClock,
        report: Callable[[Transferring | PersonOnLine], None],
        announces: bool,
        is_wanted: Callable[[], bool],
    ) -> None:
        """With `announces` the contact is told of a transfer first. `is_wanted` says that one is about to begin."""
        self._request, self._talk, self._transcript, self._clock = request, talk, transcript, clock
        self._report, self._announces, self._is_wanted = report, announces, is_wanted
        self._means: TransferMeans | None = None
        self._join: Callable[[OtherSide], None] | None = None
        self._now: CallTransfer | None = None
        self._left_agent = False
        """Whether the contact is with the person on lines that do not pass here."""
        self._on_line = TimeOnLine(request.call_id, clock, report)
        self._tries = 0
        self.destinations: Sequence[Destination] = destinations_in(request.agent.call_tools, request.variables)
        """The people who may be called."""

    def connect(self, means: TransferMeans | None, join: Callable[[OtherSide], None]) -> None:
        """Transfers by these means; None: this line cannot be transferred. `join` takes the side of a person with whom
        the contact is to be joined here."""
        self._means, self._join = means, join

    @property
    def is_under_way(self) -> bool:
        """Whether the contact waits for a person, or is with one: the agent answers nothing."""
        return self._now is not None and self._now.status != "failed"

    @property
    def is_settled(self) -> bool:
        """Whether it is known what has come of the latest transfer."""
        return self._now is None or self._now.is_over

    @property
    def holds_contact(self) -> bool:
        """Whether nothing is answered, because a transfer is under way or about to begin."""
        return self.is_under_way or self._is_wanted()

    @property
    def may_try(self) -> bool:
        """Whether a further try is made in this call."""
        return self._tries < MOST_TRANSFERS

    async def to(self, name: str, summary: str) -> TransferCause | None:
        """Transfers the call to a destination, and returns why that failed; None once the person has taken over.
        `summary` is what a model adds for the person.
        """
        destination = next(one for one in self.destinations if one.name == name)
        cause = await self._try(destination, summary)
        findings = self._talk.findings
        if cause is None:
            findings.disposition = findings.disposition or "escalated"
        return cause

    async def forward(self, destination: Destination) -> TransferCause | None:
        """Puts a caller through whom the agent does not answer, and returns why that failed. The caller knows it."""
        return await self._try(destination, "", is_forwarded=True)

    async def _try(self, destination: Destination, summary: str, *, is_forwarded: bool = False) -> TransferCause | None:
        self._tries += 1
        started_s = round(self._clock.now_s(), 3)
        self._now = CallTransfer(
            kind=destination.kind, to=destination.to, name=destination.name, started_s=started_s, at_s=started_s
        )
        try:
            await self._transferred(destination, summary, is_forwarded=is_forwarded)
        except NotTransferred as error:
            self._on_line.gone()
            self._reached("failed", error.cause)
            if error.is_away:
                self._talk.finish("transfer_failed", "carrier")
            return error.cause
        return None

    async def _transferred(self, destination: Destination, summary: str, *, is_forwarded: bool) -> None:
        if self._means is None or destination.to is None:
            raise NotTransferred("not_possible")
        if not destination.may_be_called(self._request.own_number):
            raise NotTransferred("not_allowed")
        self._reached("ringing")
        if self._announces and not is_forwarded:
            await self._talk.say(self._talk.phrases.own_or(destination.say_before, "transfer"))
        wanted = Wanted(
            kind=destination.kind,
            to=destination.to,
            summary=self._for_person(destination, summary),
            language=self._request.agent.language,
            ring_timeout_s=destination.ring_timeout_s,
            confirm_key=destination.confirm_key,
            sorry=self._talk.phrases.of("forward_failed" if is_forwarded else "transfer_failed").text,
        )
        if wanted.kind == "cold":
            await self._said()
            person = await self._by(self._means, wanted)
        else:
            person = await self._while_held(self._means, wanted)
        if person is None:
            self._talk.finish("transfer_completed", "agent")
            return
        if self._join is not None:
            await self._talk.voice.silence()
            self._join(person)
        self._reached("bridged")

    async def _by(self, means: TransferMeans, wanted: Wanted) -> OtherSide | None:
        """Transfers the contact, and says at once that they are with the person, for their sound may end any moment."""
        person = await means.transfer(wanted, self._answered)
        if person is None:
            self._left_agent = True
            self._reached("bridged")
            self._on_line.gone()
        return person

    def _for_person(self, destination: Destination, summary: str) -> str:
        first = self._talk.phrases.own_or(destination.summary, "transfer_person").text
        return f"{first} {summary.strip()}".strip()

    async def _while_held(self, means: TransferMeans, wanted: Wanted) -> OtherSide | None:
        person: OtherSide | None = None
        failed: NotTransferred | None = None
        self._transcript.counts_repeats = False
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._hold)
                try:
                    person = await self._by(means, wanted)
                except NotTransferred as error:
                    failed = error
                tasks.cancel_scope.cancel()
        finally:
            self._transcript.counts_repeats = True
        if failed is not None:
            raise failed
        return person

    async def _hold(self) -> None:
        """The contact hears a soft tone, and a word now and then."""
        await self._said()
        tones = 0
        while True:
            await self._talk.voice.play(hold_tone())
            await anyio.sleep(EVERY_S if tones % _WORD_EVERY else TONE_S)
            tones += 1
            if tones % _WORD_EVERY == 0 and not self._talk.speaks:
                with anyio.CancelScope(shield=True):  # a sentence that has begun is handed over whole
                    await self._talk.say(self._talk.phrases.of("transfer_hold"))
                await self._said()

    async def _said(self) -> None:
        """Returns when the agent has said what it was saying."""
        with anyio.move_on_after(_LONGEST_SAYING_S):
            while self._talk.speaks:  # noqa: ASYNC110 - it depends on frames that pass, and on interruptions
                await anyio.sleep(_LOOK_S)

    def _answered(self) -> None:
        if self._means is not None and self._means.calls_persons and self._now is not None and self._now.to is not None:
            self._on_line.answered(self._now.to)
        self._reached("answered")

    def tick(self) -> None:
        """Tells of a person who is on the line, every few seconds."""
        self._on_line.tick()

    def _reached(self, status: TransferStatus, cause: TransferCause | None = None) -> None:
        """Tells a stage. Nothing comes after the last one."""
        if self._now is None or self._now.is_over:
            return
        at_s = round(self._clock.now_s(), 3)
        self._now = replace(self._now, status=status, cause=cause, at_s=at_s)
        self._report(Transferring(call_id=self._request.call_id, transfer=self._now))

    def other_side_gone(self, gone: Gone) -> Gone:
        """The contact's side has ended: why, if a transfer has to do with it."""
        now = self._now
        if now is None or now.status == "failed":
            return gone
        if gone.cause == "transfer_completed":
            self._reached("bridged")
            return gone
        if now.is_bridged:
            ended_by = "agent" if self._left_agent else gone.ended_by
            return replace(gone, cause="transfer_completed", ended_by=ended_by, warning=None)
        self._reached("failed", "hung_up")
        return replace(gone, cause="transfer_failed", ended_by="carrier") if now.kind == "cold" else gone

    async def close(self) -> None:
        """The call is over: nobody is left in it alone."""
        self._on_line.gone()
        self._reached("failed", "hung_up")
        if self._means is not None:
            await self._means.close()
