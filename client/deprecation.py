"""Warns of deprecated operations, which the service names in headers of its answers.

Sources: RFC 9745 (`Deprecation`), RFC 8594 (`Sunset`).
"""

import inspect
import re
import warnings
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_LINK = re.compile(r'<([^<>]{1,500})>\s*;[^,<]*\brel="?(?:sunset|deprecation)\b', re.IGNORECASE)
_MOMENT = re.compile(r"@([0-9]{1,10})")


class Deprecations:
    """Warns once of each operation that is deprecated: a `DeprecationWarning` at the line that called the client."""

    def __init__(self) -> None:
        self._told: set[str] = set()

    def check(self, operation: str, headers: Mapping[str, str]) -> None:
        """Warns where the headers of an answer, with names in lower case, say that the operation is deprecated."""
        if operation in self._told or not ("deprecation" in headers or "sunset" in headers):
            return
        self._told.add(operation)
        warnings.warn(deprecation_words(operation, headers), DeprecationWarning, stacklevel=_depth_of_caller())


def deprecation_words(operation: str, headers: Mapping[str, str]) -> str:
    """The warning: since when the operation is deprecated, when it ends, and where to read more."""
    since = _MOMENT.fullmatch(headers.get("deprecation", "").strip())
    words = f"{operation} is deprecated"
    if since is not None:
        words += f" since {datetime.fromtimestamp(int(since[1]), UTC):%Y-%m-%d}"
    ends = _date(headers.get("sunset", ""))
    if ends is not None:
        words += f" and ends on {ends:%Y-%m-%d}"
    link = _LINK.search(headers.get("link", ""))
    return words + (f"; see {link[1]}" if link else "")


def _date(value: str) -> datetime | None:
    try:
        return parsedate_to_datetime(value)
    except ValueError:
        return None


def _depth_of_caller() -> int:
    """The `stacklevel` of the first frame outside this package, for a warning in the function that called this."""
    package = __name__.rpartition(".")[0]
    frame, depth = inspect.currentframe(), 0
    while frame is not None and frame.f_globals.get("__name__", "").startswith(f"{package}."):
        frame, depth = frame.f_back, depth + 1
    return depth
