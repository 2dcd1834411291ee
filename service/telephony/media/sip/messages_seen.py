"""What the stack's own record of SIP messages shows: whether an INVITE left, whether anything answered it, and who
calls.

The stack has no event for `100 Trying`, which is often the first and for seconds the only sign that a trunk has the
call. The record is handed over in memory, holds numbers, and is neither logged nor kept.
"""

import logging
import re
from collections.abc import Callable
from dataclasses import dataclass

from callwright.service.telephony.media.sip.invites import Invite, invite_in

_CALL_ID = re.compile(r"^(?:Call-ID|i)[ \t]*:[ \t]*(\S+)", re.IGNORECASE | re.MULTILINE)
_ANSWER = re.compile(r"^SIP/2\.0 ([1-6][0-9]{2}) ")
_TO_INVITE = re.compile(r"^CSeq[ \t]*:[ \t]*[0-9]+[ \t]+INVITE\b", re.IGNORECASE | re.MULTILINE)
_LOGGER = "baresip"
_MESSAGES = "baresip.native.sip"


@dataclass(frozen=True)
class Seen:
    """An INVITE of ours that left (`status` is None), or an answer to one."""

    sip_call_id: str
    status: int | None = None


def seen_in(record: str) -> Seen | None:
    """What a record of a message shows; None if it is no INVITE of ours and no answer to one."""
    route, _, message = record.partition("\n")
    call_id = _CALL_ID.search(message)
    if call_id is None:
        return None
    if route.startswith("TX") and message.startswith("INVITE "):
        return Seen(call_id[1])
    answer = _ANSWER.match(message)
    if route.startswith("RX") and answer is not None and _TO_INVITE.search(message):
        return Seen(call_id[1], int(answer[1]))
    return None


class MessageRecord(logging.Handler):
    """Takes the records of the stack and hands on what they show, from a thread of the stack."""

    def __init__(self, seen: Callable[[Seen], None], invited: Callable[[Invite], None]) -> None:
        super().__init__(logging.DEBUG)
        self._seen, self._invited = seen, invited

    def emit(self, record: logging.LogRecord) -> None:
        """Takes a record."""
        text = record.getMessage().replace("\r\n", "\n")
        if (found := seen_in(text)) is not None:
            self._seen(found)
        elif (invite := invite_in(text)) is not None:
            self._invited(invite)


def follow_messages(seen: Callable[[Seen], None], invited: Callable[[Invite], None]) -> None:
    """Has the stack's records of messages looked at, and keeps everything that it logs out of all logs."""
    whole, messages = logging.getLogger(_LOGGER), logging.getLogger(_MESSAGES)
    whole.propagate = messages.propagate = False
    whole.setLevel(logging.CRITICAL)
    messages.setLevel(logging.DEBUG)
    messages.addHandler(MessageRecord(seen, invited))
