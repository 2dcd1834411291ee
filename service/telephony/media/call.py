"""A live call: its other side, its pipeline, its recording and its conversation, from the order to the last report."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import anyio
from anyio.abc import TaskGroup
from pydantic import BaseModel

from callwright.contract.agents.call_tools import TRANSFER
from callwright.service.speech.synthesiser import Synthesiser
from callwright.service.telephony.engine import AnsweredBy
from callwright.service.telephony.media.arrival import Arrival
from callwright.service.telephony.media.callers.treatment import Treatment, stage_of
from callwright.service.telephony.media.conversation import Conversation
from callwright.service.telephony.media.findings import End
from callwright.service.telephony.media.messages import (
    BeginCall,
    Dial,
    Ended,
    HangUp,
    Listening,
    QueueMoved,
    Reached,
    ToolKept,
    TransferUpdate,
)
from callwright.service.telephony.media.other_side import Gone, OtherSide
from callwright.service.telephony.media.pipeline import CallPipeline, Failure
from callwright.service.telephony.media.sound.recorder import Recorder
from callwright.service.telephony.media.sound.sound_clock import SoundClock, Track
from callwright.service.telephony.media.tools.call_tools import CallTools
from callwright.service.telephony.media.tools.kept_first import KeptFirst
from callwright.service.telephony.media.tools.tool_line import ToolLine
from callwright.service.telephony.media.transfers.handover import Handover
from callwright.service.telephony.media.transfers.host_transfers import HostTransfers
from callwright.service.telephony.media.transfers.person_voice import SpeakingVoice
from callwright.service.telephony.media.transfers.through import Through
from callwright.service.telephony.media.turns.transcript import Transcript
from callwright.service.telephony.media.turns.turn_taking import SpeechModels
from callwright.service.telephony.transfers import Destination

_TICK_S = 0.1
_CLOSE_S = 10.0
_MOST_FAILURES = 3
Report = Callable[[BaseModel], None]


class Call:
    """One call. `run` returns when it is over and reported."""

    def __init__(
        self,
        begin: BeginCall,
        *,
        arrival: Arrival,
        synthesiser: Synthesiser,
        models: SpeechModels | None,
        report: Report,
    ) -> None:
        self._begin = begin
        self._arrival = arrival
        self._report = report
        self._clock = SoundClock()
        recording = begin.recording
        self._recorder = Recorder(Path(recording), self._clock) if recording else None
        self._agent = Track(self._clock, self._recorder.agent if self._recorder else None)
        self._contact = Track(self._clock, self._recorder.contact if self._recorder else None)
        self._other: OtherSide | None = None
        self._gone: Gone | None = None
        self._over, self._pipeline_ended = anyio.Event(), anyio.Event()
        self._speaking_failures = self._hearing_failures = 0
        self._seen: AnsweredBy | None = None
        transcript = Transcript(begin.request.call_id, report, self._show)
        self._conversation = Conversation(begin, clock=self._clock, transcript=transcript, ended=self._over.set)
        line = ToolLine(self._conversation)
        self._handover = Handover(
            begin.request,
            self._conversation,
            transcript=transcript,
            clock=self._clock,
            report=report,
            announces=begin.services.thinking.kind != "policy",
            is_wanted=lambda: self._wanted() is not None,
        )
        self._kept_first = KeptFirst(begin.request.call_id, report)
        self._tools = tools = CallTools(
            begin.request,
            begin.services.tools,
            line,
            self._handover,
            self._kept_first,
            transcript=transcript,
            clock=self._clock,
        )
        self._voice = SpeakingVoice(begin, synthesiser)
        self._at_host = HostTransfers(begin.request.call_id, report) if begin.host_transfers else None
        self._person: OtherSide | None = None
        """With whom the contact is joined here."""
        self._pipeline = CallPipeline(
            begin,
            self._conversation,
            clock=self._clock,
            agent=self._agent,
            contact=self._contact,
            synthesiser=synthesiser,
            models=models,
            tools=tools,
            failed=self._service_failed,
            used=report,
        )
        has_model = self._pipeline.has_model
        self._conversation.connect(self._pipeline, self._pipeline.ask_model if has_model else None, tools)

    async def run(self) -> None:
        """Waits for the other side, talks until the call is over, and reports its end."""
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._run_pipeline)
                tasks.start_soon(self._talk, tasks)
                await self._over.wait()
                self._clock.stop()
                await self._handover.close()
                await self._pipeline.cancel()
                with anyio.move_on_after(_CLOSE_S):
                    await self._pipeline_ended.wait()
                tasks.cancel_scope.cancel()
        finally:
            self._clock.stop()
            end = self._conversation.end or End("platform_error", "platform")
            with anyio.move_on_after(_CLOSE_S, shield=True):
                await self._arrival.leave(end.cause)
                if self._recorder is not None:
                    await self._recorder.close()
        self._report(self._last_report(end))

    async def _run_pipeline(self) -> None:
        try:
            await self._pipeline.run()
        finally:
            self._pipeline_ended.set()
            self._conversation.finish("platform_error", "platform")  # unless something else has ended the call

    async def _talk(self, tasks: TaskGroup) -> None:
        other = await self._arrival.prepare()
        if other is None:
            self._report(Listening(call_id=self._begin.request.call_id))
            other = await self._arrival.wait(self._begin.request.ring_timeout_s, self._waits)
        if isinstance(other, Gone):
            self._is_gone(other)
            return
        self._other = other
        self._tools.runs_in(tasks)
        self._clock.start()
        self._pipeline.transport.output().attach(other)
        call_id = self._begin.request.call_id
        self._report(Reached(call_id=call_id, stage="answered", provider_call_id=other.provider_call_id))

        def join(person: OtherSide) -> None:
            tasks.start_soon(self._join, person)

        self._handover.connect(self._at_host or self._arrival.transfers(self._voice), join)
        if self._recorder is not None:
            tasks.start_soon(self._recorder.run)
        tasks.start_soon(self._follow, other)
        self._begin_treatment(tasks)
        if (treatment := self._conversation.treatment) is not None:
            await treatment.begin()
        else:
            await self._conversation.answered()
        if self._seen is not None:
            await self._conversation.saw(self._seen)
        while True:
            await anyio.sleep(_TICK_S)
            await self._conversation.tick()
            self._handover.tick()
            wanted = self._wanted() if self._conversation.end is None else None
            if wanted is not None and not self._handover.is_under_way and not self._conversation.speaks:
                tasks.start_soon(self._hand_over, wanted)

    def _begin_treatment(self, tasks: TaskGroup) -> None:
        """What a caller gets first, if that is not the agent."""
        request = self._begin.request
        stage = stage_of(request.answering)
        if stage is not None:
            forward = partial(tasks.start_soon, self._forward)
            self._conversation.treatment = Treatment(request, self._conversation, stage, forward)

    async def _forward(self, destination: Destination) -> None:
        """Puts a caller through. If nobody takes the call, they hear so."""
        if await self._handover.forward(destination) is not None:
            failed = self._conversation.phrases.of("forward_failed", then="hang_up")
            await self._conversation.leave(failed, End("transfer_failed", "platform"))

    async def queue_moved(self, order: QueueMoved) -> None:
        """A caller who waits has another place in the queue."""
        if self._conversation.treatment is not None:
            await self._conversation.treatment.moved(order.place)

    def _waits(self, provider_call_id: str | None, *, rings: bool) -> None:
        stage = "ringing" if rings else "initiated"
        self._report(Reached(call_id=self._begin.request.call_id, stage=stage, provider_call_id=provider_call_id))

    async def _follow(self, other: OtherSide) -> None:
        gone = await other.run(self)
        if self._at_host is not None and await self._at_host.takes_away():
            while not self._handover.is_settled:  # the carrier has taken the contact away, and says what comes of it
                self._conversation.holds()
                await anyio.sleep(_TICK_S)
        self._is_gone(gone)

    def _wanted(self) -> Destination | None:
        """Whom the policy wants the call to be transferred to."""
        policy = self._conversation.policy
        return policy.destination if policy is not None else None

    async def _hand_over(self, destination: Destination) -> None:
        """Transfers the call for the policy. The agent goes on with the contact if nobody takes over."""
        result = await self._tools.use(TRANSFER, {"destination": destination.name}, "policy")
        policy = self._conversation.policy
        if policy is not None and not result.ok and self._conversation.end is None:
            for saying in policy.not_transferred():
                await self._conversation.say(saying)

    async def _join(self, person: OtherSide) -> None:
        """Lets contact and person talk to each other until one of them is gone. It is not recorded."""
        if self._recorder is not None:
            await self._recorder.close()
        assert self._other is not None
        self._person = person
        await person.run(Through(self._other))
        self._conversation.finish("transfer_completed", "agent")

    def transfer_update(self, order: TransferUpdate) -> None:
        """The host tells what has come of a transfer."""
        if self._at_host is not None:
            self._at_host.update(order)

    def tool_kept(self, order: ToolKept) -> None:
        """The host has kept that a tool is about to be asked."""
        self._kept_first.is_kept(order.turn_index)

    def _is_gone(self, gone: Gone) -> None:
        gone = self._handover.other_side_gone(gone)
        if self._conversation.end is None:
            self._gone = gone
        if gone.warning:
            self._conversation.findings.warn(gone.warning)
        self._conversation.finish(gone.cause, gone.ended_by)

    def place(self, order: Dial) -> None:
        """Places the call now."""
        self._arrival.place(order.before_s)

    async def sound(self, pcm: bytes) -> None:
        """Sound of the other side came."""
        if self._person is not None:
            self._conversation.holds()
            self._person.send_sound(pcm)
            return
        self._conversation.sound(pcm)
        await self._pipeline.transport.input().hear(pcm)

    async def keys(self, digits: str) -> None:
        """The other side pressed keys."""
        if self._person is not None:
            await self._person.press(digits)
        else:
            await self._conversation.keys(digits)

    async def typed(self, text: str) -> None:
        """The other side typed a turn."""
        await self._conversation.typed(text)

    def holds(self) -> None:
        """The other side has put the call on hold."""
        self._conversation.holds()

    async def hang_up(self, order: HangUp) -> None:
        """Ends the call by order. Nothing is said to a side that is not there."""
        if order.warning:
            self._conversation.findings.warn(order.warning)
        if self._conversation.treatment is not None and order.cause == "call_rejected" and not order.sentence:
            order = order.model_copy(update={"sentence": self._conversation.phrases.of("closed").text})
        if self._other is None:
            self._conversation.finish(order.cause, order.ended_by)
        else:
            await self._conversation.hang_up(order)

    async def saw(self, answered_by: AnsweredBy) -> None:
        """The carrier says who answered, perhaps before its sound is there."""
        if self._other is None:
            self._seen = answered_by
        else:
            await self._conversation.saw(answered_by)

    def _show(self, kind: str, **content: object) -> None:
        if self._other is not None:
            self._other.send(kind, **content)

    async def _service_failed(self, failure: Failure) -> None:
        """Notes that a service failed. A call whose agent cannot speak ends, and one whose pipeline failed; an agent
        that cannot hear says so to who speaks, and hangs up."""
        self._conversation.findings.warn(failure.sentence)
        self._speaking_failures += failure.part == "speaking"
        self._hearing_failures += failure.part == "hearing"
        if failure.part == "hearing":
            self._conversation.is_deaf |= failure.for_good or self._hearing_failures >= _MOST_FAILURES
        elif failure.part == "pipeline" or failure.for_good or self._speaking_failures >= _MOST_FAILURES:
            self._conversation.finish("platform_error", "platform")

    def _last_report(self, end: End) -> Ended:
        conversation, findings = self._conversation, self._conversation.findings
        policy = conversation.policy
        warnings = [*findings.warnings]
        if self._recorder is not None and self._recorder.problem:
            warnings.append(self._recorder.problem)
        disposition, answered_by = findings.disposition, findings.answered_by
        callback_after_s, callback_said = None, None
        unanswered: tuple[str, ...] = ()
        if conversation.met_person:
            answered_by = answered_by or "human"
            if findings.verdicts.words is None:
                findings.heard("human")
            if policy is not None:
                disposition = disposition or policy.ending.disposition
                callback_after_s, callback_said = policy.ending.callback_after_s, policy.ending.callback_said
                unanswered = tuple(policy.ending.unanswered_questions)
                warnings += policy.ending.warnings
        if findings.call_back_at is not None and disposition == "callback_requested":
            callback_after_s = max((findings.call_back_at - self._tools.today()).total_seconds(), 0.0)
            callback_said = None
        return Ended(
            call_id=self._begin.request.call_id,
            cause=end.cause,
            ended_by=end.ended_by,
            answered_by=self._who_answered(answered_by),
            disposition=disposition,
            talk_s=round(self._clock.now_s(), 3),
            warnings=tuple(dict.fromkeys(warnings)),
            unanswered_questions=unanswered,
            callback_after_s=callback_after_s,
            callback_said=callback_said,
            voicemail_message_left=findings.message_left,
            machine_verdicts=findings.verdicts,
            recorded=self._recorder is not None and self._recorder.has_sound,
            sip_status=self._gone.sip_status if self._gone else None,
            was_sent=self._gone.was_sent if self._gone else True,
            treatment=None if conversation.treatment is None else conversation.treatment.stage,
        )

    def _who_answered(self, known: AnsweredBy | None) -> AnsweredBy | None:
        """Who answered a call that was made. A caller has answered nothing."""
        if self._other is None:
            return known
        return None if self._begin.request.answering is not None else known or "unknown"
