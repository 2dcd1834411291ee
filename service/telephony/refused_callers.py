"""The result of a call that comes in and is not answered."""

from callwright.service.telephony.answering import RejectReason
from callwright.service.telephony.engine import CallRequest, CallResult


def refused_call(request: CallRequest, reason: RejectReason | None) -> CallResult:
    """A call that is refused while it rings: as busy where no reason says otherwise. It costs nothing."""
    is_rejected = reason in ("blocked", "closed")
    return CallResult(
        call_id=request.call_id,
        outcome="rejected" if is_rejected else "busy",
        hangup_cause="call_rejected" if is_rejected else "user_busy",
        ended_by="platform",
    )
