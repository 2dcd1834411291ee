"""Which part of a file a request sends: the header Content-Range of RFC 9110, section 14.4, in a PUT (section 14.5)."""

import re
from dataclasses import dataclass

from callwright.service.platform.refusals import invalid

CONTENT_RANGE = "Content-Range"
_RANGE = re.compile(r"bytes (?:(\d{1,18})-(\d{1,18})|\*)/(\d{1,18}|\*)")


@dataclass(frozen=True)
class Part:
    """A part of a file, in bytes. `end` is the byte after its last one, None for the file as a whole; `total` is the
    size of the file where it is known.
    """

    begin: int = 0
    end: int | None = None
    total: int | None = None

    @property
    def is_whole(self) -> bool:
        """Whether the request sends the file as a whole."""
        return self.end is None


def part_of(content_range: str | None) -> Part:
    """The part that the header names; without the header the file as a whole.

    `bytes */1000` sends nothing: it asks what has arrived, and completes a file of which all has.

    Raises:
        Refusal: invalid_field when it names none.
    """
    if content_range is None:
        return Part()
    found = _RANGE.fullmatch(content_range.strip())
    if found is None:
        raise invalid(CONTENT_RANGE, "must be such as bytes 0-999999/5000000, with * for a size that is not known yet")
    first, last, size = found.groups()
    total = None if size == "*" else int(size)
    if first is None:
        return Part(0, 0, total)
    begin, end = int(first), int(last) + 1
    if end <= begin or (total is not None and end > total):
        raise invalid(CONTENT_RANGE, "names a part that ends before it begins, or after the end of the file")
    return Part(begin, end, total)
