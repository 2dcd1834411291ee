"""Results of legs that end for a reason of their own, apart from what a carrier tells."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row

from callwright.service.telephony.engine import CallRequest, CallResult, EarlyEnd


@dataclass(frozen=True)
class PlacingTimes:
    """How long each step of placing may take, in seconds. Shorter ones are for tests."""

    place_s: float = 5.0
    """From the fence to the last moment at which the request may be sent."""
    list_lag_s: float = 60.0
    """After this time the list of a carrier shows every call that was placed. Carriers do not document it."""
    overhang_s: float = 30.0
    """How long a call may go on after its longest ringing and talking."""

    def is_listed_after_s(self) -> float:
        """Seconds after the fence when the carrier's list shows the call, if it was placed at all."""
        return self.place_s + self.list_lag_s

    def over_after_s(self, request: CallRequest) -> float:
        """Seconds after the fence when the call is over for certain, if it was placed at all."""
        return self.is_listed_after_s() + request.ring_timeout_s + request.max_duration_s + self.overhang_s


def not_dialled(request: CallRequest, end: EarlyEnd | None = None) -> CallResult:
    """A leg that was never placed: it has rung nowhere and uses up no attempt."""
    end = end or EarlyEnd("platform", "platform_error")
    cause = "originator_cancel" if end.cause == "normal_clearing" else end.cause
    return CallResult(
        call_id=request.call_id, outcome="failed", hangup_cause=cause, ended_by=end.ended_by, was_dialled=False
    )


def not_opened(request: CallRequest) -> CallResult:
    """A talk in the browser to which nobody came."""
    return CallResult(call_id=request.call_id, outcome="no_answer", hangup_cause="no_answer", ended_by="platform")


def unconfirmed(request: CallRequest) -> CallResult:
    """A leg of which nobody knows whether it rang."""
    return CallResult(call_id=request.call_id, outcome="failed", hangup_cause="unconfirmed", ended_by="carrier")


def lost(leg: Row[Any]) -> CallResult:
    """A leg whose host is gone in the middle of the call."""
    if leg.answered_at is None:
        return CallResult(call_id=leg.call_id, outcome="failed", hangup_cause="platform_error", ended_by="platform")
    return CallResult(
        call_id=leg.call_id,
        outcome="answered",
        disposition="incomplete",
        hangup_cause="platform_error",
        ended_by="platform",
        answered_by="unknown",
        warnings=("The call ended because the process that carried it did; what was said is not known.",),
    )
