"""What came of a call, from what its media process has reported."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast, get_args

from callwright.contract.calls.calls import Disposition, Outcome
from callwright.service.rules.cost_items import Used, summed
from callwright.service.rules.prices.transfer_prices import TransferLeg
from callwright.service.speech.mu_law_files import has_sound
from callwright.service.telephony.engine import AnsweredBy, AnswerLatency, CallResult, HangupCause, Turn
from callwright.service.telephony.media.messages import (
    Ended,
    Latency,
    PersonOnLine,
    Reached,
    Report,
    Said,
    ToolAsks,
    Transferring,
    Usage,
)
from callwright.service.telephony.transfers import CallTransfer

_OUTCOMES: Mapping[HangupCause, Outcome] = {
    "user_busy": "busy",
    "no_answer": "no_answer",
    "call_rejected": "rejected",
    "unallocated_number": "invalid_number",
    "originator_cancel": "cancelled",
    "contact_hangup": "abandoned",
}
"""The outcome of a call that nobody answered, by its cause; of all others it is `failed`."""
_MACHINES: Sequence[AnsweredBy] = ("machine_end_beep", "machine_end_silence")


class Conversation:
    """Collects the reports of one call."""

    def __init__(self, call_id: str, *, recording: str | None = None) -> None:
        """`recording` is the path of the recording, if there is to be one."""
        self._call_id, self._recording = call_id, recording
        self._turns: list[Turn] = []
        self._asked: dict[int, Turn] = {}
        """Tools of which nothing has come yet, by the number of their turn."""
        self._latencies: dict[int, AnswerLatency] = {}
        """By the number that the turn had in its media process."""
        self._keys: list[str] = []
        self._transfer: CallTransfer | None = None
        self._persons: dict[int, TransferLeg] = {}
        """By the number of the try."""
        self._used: list[Used] = []
        self._is_answered = False

    def add(self, report: Report) -> None:
        """Takes a report of the call."""
        if isinstance(report, Reached) and report.stage == "answered":
            self._is_answered = True
        elif isinstance(report, ToolAsks):
            self._asked[report.turn.index] = report.turn
        elif isinstance(report, Said):
            self._asked.pop(report.turn.index, None)
            if report.turn.text or report.turn.tool_call:
                self._turns.append(report.turn)
            if report.keys:
                self._keys.append(report.keys)
        elif isinstance(report, Transferring):
            self._transfer = report.transfer
        elif isinstance(report, PersonOnLine):
            self._persons[report.number] = report.leg
        elif isinstance(report, Latency):
            self._latencies[report.turn_index] = AnswerLatency(report.total_ms, report.parts_ms)
        elif isinstance(report, Usage):
            used = Used(report.item, report.provider, report.model, report.unit, report.quantity, report.is_own)
            self._used = summed([*self._used, used])

    @property
    def is_answered(self) -> bool:
        """Whether somebody answered, as far as is known."""
        return self._is_answered

    def so_far(self) -> CallResult:
        """The result if the process that carries the call ended now."""
        return self.result(Ended(call_id=self._call_id, cause="platform_error", ended_by="platform"))

    def result(self, ended: Ended) -> CallResult:
        """The result of the call."""
        if not self._is_answered and ended.cause == "normal_clearing":  # hung up while it rang
            ended = ended.model_copy(update={"cause": "originator_cancel"})
        is_known = ended.disposition in get_args(Disposition)
        return CallResult(
            call_id=self._call_id,
            outcome=self._outcome(ended),
            disposition=cast("Disposition", ended.disposition) if is_known else None,
            hangup_cause=ended.cause,
            ended_by=ended.ended_by,
            answered_by=ended.answered_by if self._is_answered else None,
            turns=self._in_order(),
            unanswered_questions=ended.unanswered_questions,
            warnings=ended.warnings,
            keys=tuple(self._keys),
            callback_after_s=ended.callback_after_s,
            callback_said=ended.callback_said,
            recorded=ended.recorded or self._has_sound(),
            sip_status=ended.sip_status,
            machine_verdicts=ended.machine_verdicts,
            transfer=self._transfer,
            used=tuple(self._used),
            transfer_legs=tuple(self._persons.values()),
        )

    def _has_sound(self) -> bool:
        """Whether there is sound in the file of a call whose process could not say so."""
        return self._recording is not None and has_sound(Path(self._recording))

    def _in_order(self) -> tuple[Turn, ...]:
        """The turns by their times, numbered anew: entries of keys are none, and turns are told when they end."""
        turns = sorted([*self._turns, *self._asked.values()], key=lambda turn: turn.start_s)
        return tuple(
            replace(turn, index=index, latency=self._latencies.get(turn.index)) for index, turn in enumerate(turns)
        )

    def _treated(self, ended: Ended) -> Outcome:
        """The outcome of the call of somebody who has not come to the agent."""
        match ended.treatment:
            case "voicemail":
                return "voicemail_left" if any(turn.speaker == "contact" for turn in self._turns) else "voicemail"
            case "forward":
                is_busy = self._transfer is not None and self._transfer.cause == "busy"
                return "busy" if is_busy else "abandoned" if ended.cause == "contact_hangup" else "no_answer"
            case _:
                return _OUTCOMES.get(ended.cause, "abandoned")

    def _outcome(self, ended: Ended) -> Outcome:
        if not self._is_answered:
            return _OUTCOMES.get(ended.cause, "failed")
        if self._transfer is not None and self._transfer.is_bridged:
            return "transferred"
        if ended.treatment is not None:
            return self._treated(ended)
        if ended.answered_by not in _MACHINES:
            return "answered"
        return "voicemail_left" if ended.voicemail_message_left else "voicemail"
