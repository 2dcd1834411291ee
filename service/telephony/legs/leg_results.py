"""Results of legs that end for a reason of their own, apart from what a carrier tells."""

from dataclasses import dataclass, replace

from callwright.contract.calls.calls import Outcome
from callwright.service.telephony.engine import CallRequest, CallResult, EarlyEnd
from callwright.service.telephony.transfers import CallTransfer

_NOBODY_FOLLOWED = (
    "The process that carried the call ended before anybody was known to answer; nobody knows what came of it."
)
_NOT_TO_ITS_END = "The call ended because the process that carried it did; what was said last is not in the transcript."


@dataclass(frozen=True)
class PlacingTimes:
    """How long each step of placing may take, in seconds. Shorter ones are for tests."""

    place_s: float = 5.0
    """From the fence to the last moment at which the request may be sent."""
    list_lag_s: float = 60.0
    """After this time the list of a carrier shows every call that was placed. Carriers do not document it."""
    overhang_s: float = 35.0
    """How long a call may go on after its longest ringing and talking."""

    def is_listed_after_s(self) -> float:
        """Seconds after the fence when the carrier's list shows the call, if it was placed at all."""
        return self.place_s + self.list_lag_s

    def over_after_s(self, request: CallRequest, *, unheard_ends: bool = False) -> float:
        """Seconds after the fence when the call is over for certain, if it was placed at all. `unheard_ends`: nobody
        talks in a call of which nothing was heard."""
        rung_s = self.place_s + request.ring_timeout_s + self.overhang_s
        return rung_s if unheard_ends else rung_s + self.list_lag_s + request.max_duration_s


def not_dialled(request: CallRequest, end: EarlyEnd | None = None) -> CallResult:
    """A leg that was never placed: it has rung nowhere and uses up no attempt."""
    end = end or EarlyEnd("platform", "platform_error")
    cause = "originator_cancel" if end.cause == "normal_clearing" else end.cause
    return CallResult(
        call_id=request.call_id, outcome="failed", hangup_cause=cause, ended_by=end.ended_by, was_dialled=False
    )


def not_opened(request: CallRequest) -> CallResult:
    """A talk in the browser to which nobody came, and a caller whom no host took."""
    return CallResult(call_id=request.call_id, outcome="no_answer", hangup_cause="no_answer", ended_by="platform")


def unconfirmed(request: CallRequest) -> CallResult:
    """A leg of which nobody knows whether it rang."""
    return CallResult(call_id=request.call_id, outcome="failed", hangup_cause="unconfirmed", ended_by="carrier")


def answered_after_all(result: CallResult) -> CallResult:
    """The result of a leg that somebody has answered, as its carrier has told. Whoever followed the call may not have
    known that: its media process ended, or the answer came while it was hung up."""
    if result.outcome in ("answered", "transferred", "voicemail", "voicemail_left"):
        return result
    is_lost = result.hangup_cause == "unconfirmed"
    return replace(
        result,
        outcome="answered",
        disposition=result.disposition or "incomplete",
        answered_by=result.answered_by or "unknown",
        hangup_cause="platform_error" if is_lost else result.hangup_cause,
        ended_by="platform" if is_lost else result.ended_by,
        warnings=(_NOT_TO_ITS_END,) if is_lost else result.warnings,
    )


def lost(
    request: CallRequest,
    so_far: CallResult | None,
    *,
    is_answered: bool,
    transfer: CallTransfer | None = None,
    waits: bool = False,
) -> CallResult:
    """A leg that was placed, and whose host or media process is gone. `so_far` is what had been said by then,
    `transfer` the latest try to transfer the call: nobody takes it over any more. `waits`: a caller waited for a line.

    A telephone that rang may have been answered after the host was gone: a person decides whether it is called again.
    """
    if not is_answered and request.rings_telephone:
        return replace(unconfirmed(request), warnings=(_NOBODY_FOLLOWED,))
    if not is_answered:
        return CallResult(call_id=request.call_id, outcome="failed", hangup_cause="platform_error", ended_by="platform")
    known = so_far or CallResult(
        call_id=request.call_id, outcome="answered", hangup_cause="platform_error", ended_by="platform"
    )
    transfer = transfer or known.transfer
    if transfer is not None and not transfer.is_over:
        transfer = transfer.given_up()
    taken_over = transfer is not None and transfer.is_bridged
    if not taken_over and (outcome := _without_agent(request, known, waits=waits)) is not None:
        return replace(
            known, transfer=transfer, outcome=outcome, disposition=None, warnings=(*known.warnings, _NOT_TO_ITS_END)
        )
    return replace(
        known,
        transfer=transfer,
        outcome="transferred" if taken_over else "answered",
        disposition=known.disposition or "incomplete",
        answered_by=known.answered_by or "unknown",
        warnings=(*known.warnings, _NOT_TO_ITS_END),
    )


def _without_agent(request: CallRequest, known: CallResult, *, waits: bool) -> Outcome | None:
    """The outcome of a caller who has not come to the agent; None for everybody else."""
    match request.answering.action if request.answering is not None else None:
        case "voicemail":
            return "voicemail_left" if any(turn.speaker == "contact" for turn in known.turns) else "voicemail"
        case "forward":
            return "no_answer"
        case "agent" if waits:
            return "abandoned"
        case _:
            return None
