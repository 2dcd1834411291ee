"""What came of a call, from what its media process has reported."""

from collections.abc import Mapping, Sequence
from typing import cast, get_args

from callwright.contract.calls.calls import Disposition, Outcome
from callwright.service.telephony.engine import AnsweredBy, CallResult, HangupCause, Turn
from callwright.service.telephony.media.messages import Ended, Reached, Report, Said

_OUTCOMES: Mapping[HangupCause, Outcome] = {
    "user_busy": "busy",
    "no_answer": "no_answer",
    "call_rejected": "rejected",
    "unallocated_number": "invalid_number",
    "originator_cancel": "cancelled",
}
"""The outcome of a call that nobody answered, by its cause; of all others it is `failed`."""
_MACHINES: Sequence[AnsweredBy] = ("machine_end_beep", "machine_end_silence")


class Conversation:
    """Collects the reports of one call."""

    def __init__(self, call_id: str) -> None:
        self._call_id = call_id
        self._turns: list[Turn] = []
        self._keys: list[str] = []
        self._is_answered = False

    def add(self, report: Report) -> None:
        """Takes a report of the call."""
        if isinstance(report, Reached) and report.stage == "answered":
            self._is_answered = True
        elif isinstance(report, Said):
            if report.turn.text:
                self._turns.append(report.turn)
            if report.keys:
                self._keys.append(report.keys)

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
            turns=tuple(sorted(self._turns, key=lambda turn: turn.start_s)),
            unanswered_questions=ended.unanswered_questions,
            warnings=ended.warnings,
            keys=tuple(self._keys),
            callback_after_s=ended.callback_after_s,
            sip_status=ended.sip_status,
        )

    def _outcome(self, ended: Ended) -> Outcome:
        if not self._is_answered:
            return _OUTCOMES.get(ended.cause, "failed")
        if ended.answered_by not in _MACHINES:
            return "answered"
        has_spoken = any(turn.speaker == "agent" for turn in self._turns)
        return "voicemail_left" if has_spoken and ended.cause != "normal_clearing" else "voicemail"
