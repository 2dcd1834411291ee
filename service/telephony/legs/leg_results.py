"""Results of legs that end for a reason of their own, apart from what a carrier tells."""

from typing import Any

from sqlalchemy import Row

from callwright.service.telephony.engine import CallRequest, CallResult, EarlyEnd

PLACE_S = 5.0
"""Seconds from the fence to the last moment at which the request may be sent."""
REQUEST_S = 4.0
"""Seconds that the request may take."""
LIST_LAG_S = 60.0
"""Seconds after which a carrier's list shows every call that was placed. Carriers do not document it."""
OVERHANG_S = 30.0
"""Seconds that a call may go on after its longest ringing and talking."""


def not_dialled(request: CallRequest, end: EarlyEnd | None = None) -> CallResult:
    """A leg that was never placed: it has rung nowhere and uses up no attempt."""
    end = end or EarlyEnd("platform", "platform_error")
    cause = "originator_cancel" if end.cause == "normal_clearing" else end.cause
    return CallResult(
        call_id=request.call_id, outcome="failed", hangup_cause=cause, ended_by=end.ended_by, was_dialled=False
    )


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
        warnings=["The call ended because the process that carried it did; what was said is not known."],
    )


def over_after_s(request: CallRequest) -> float:
    """Seconds after the fence when a call is over for certain, if it was placed at all."""
    return PLACE_S + LIST_LAG_S + request.ring_timeout_s + request.max_duration_s + OVERHANG_S
