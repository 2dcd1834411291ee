"""What the final answer to an INVITE says about a call that was not answered."""

from collections.abc import Mapping

from callwright.service.telephony.engine import EndedBy, HangupCause
from callwright.service.telephony.media.other_side import Gone

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
_CANNOT_CONNECT = ("refused", "unreachable", "protocol error", "no route", "no such", "certificate", "address")


def refused(status: int) -> Gone:
    """Why a call was not answered, by the status of the final answer (300 and above)."""
    cause = _CAUSES.get(status, "carrier_rejected")
    by: EndedBy = "contact" if cause in _OF_CONTACT else "carrier"
    warning = f"The SIP trunk refused the call with status {status}." if cause == "carrier_rejected" else None
    return Gone(cause, by, warning, sip_status=status)


def not_connected(text: str, *, has_left: bool) -> Gone:
    """A call that ended before any answer, by what the stack says and whether its INVITE was seen to leave."""
    if has_left or not any(words in text.lower() for words in _CANNOT_CONNECT):
        return Gone("network_error", "carrier", "The SIP trunk did not answer.")
    secured = " Its certificate may not be trusted." if "protocol" in text.lower() else ""
    return Gone("network_error", "platform", f"No connection to the SIP trunk could be made.{secured}", was_sent=False)


def status_of(text: str | None) -> int | None:
    """The status at the beginning of a text such as `486 Busy Here`."""
    head = (text or "").partition(" ")[0]
    return int(head) if len(head) == 3 and head.isascii() and head.isdigit() and head[0] in "3456" else None
