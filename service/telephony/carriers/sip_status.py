"""What the final SIP status says of a call that was not answered. Carriers without SIP tell it too."""

from collections.abc import Mapping

from callwright.service.telephony.engine import EndedBy, HangupCause

_CAUSES: Mapping[int, HangupCause] = {
    404: "unallocated_number",
    410: "unallocated_number",
    484: "unallocated_number",
    604: "unallocated_number",
    408: "no_answer",
    480: "no_answer",
    487: "no_answer",
    486: "user_busy",
    600: "user_busy",
    433: "call_rejected",
    603: "call_rejected",
    607: "call_rejected",
    608: "call_rejected",
    500: "network_error",
    502: "network_error",
    504: "network_error",
    580: "network_error",
}
"""Answers that mean a thing of their own. All others say that the carrier does not take the call."""
_OF_CONTACT: tuple[HangupCause, ...] = ("user_busy", "call_rejected", "no_answer")


def cause_of(status: int) -> HangupCause:
    """Why a call was not answered, by its final status (300 and above)."""
    return _CAUSES.get(status, "carrier_rejected")


def ended_by(cause: HangupCause) -> EndedBy:
    """Who ended a call that was not answered."""
    return "contact" if cause in _OF_CONTACT else "carrier"
