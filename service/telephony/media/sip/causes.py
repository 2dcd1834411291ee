"""What the final answer to an INVITE says about a call that was not answered."""

from callwright.service.telephony.carriers.sip_status import cause_of, ended_by
from callwright.service.telephony.media.other_side import Gone

_CANNOT_CONNECT = ("refused", "unreachable", "protocol error", "no route", "no such", "certificate", "address")


def refused(status: int) -> Gone:
    """Why a call was not answered, by the status of the final answer (300 and above)."""
    cause = cause_of(status)
    warning = f"The SIP trunk refused the call with status {status}." if cause == "carrier_rejected" else None
    return Gone(cause, ended_by(cause), warning, sip_status=status)


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
