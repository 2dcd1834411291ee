"""The check of byte ranges. Source: RFC 9110, section 14."""

import re

from callwright.contract.problems import RANGE_NOT_SATISFIABLE
from callwright.service.platform.refusals import Refusal
from callwright.service.rest.incoming import Incoming

_PART = r"(?:\d{1,18}-\d{0,18}|-\d{1,18})"
_FORM = re.compile(rf"bytes=\s*{_PART}(?:\s*,\s*{_PART}){{0,15}}\s*")
_FIRST = re.compile(r"(\d*)-(\d*)")


def check_range(incoming: Incoming, size: int) -> None:
    """Drops a malformed Range header, as the RFC requires, so that the whole file is sent.

    Raises:
        Refusal: range_not_satisfiable if no part of the range is in the file.
    """
    wanted = incoming.header(b"range")
    if wanted is None:
        return
    if _FORM.fullmatch(wanted) is None or not all(_ordered(*part) for part in _FIRST.findall(wanted)):
        incoming.drop(b"range")
        return
    if not any(_lies_within(first, last, size) for first, last in _FIRST.findall(wanted)):
        raise Refusal(RANGE_NOT_SATISFIABLE, headers={"Content-Range": f"bytes */{size}"})


def _ordered(first: str, last: str) -> bool:
    return not first or not last or int(first) <= int(last)


def _lies_within(first: str, last: str, size: int) -> bool:
    return int(first) < size if first else int(last) > 0
