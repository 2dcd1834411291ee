"""How large a JSON value of any shape may be, written as text."""

import json
from collections.abc import Callable
from typing import Any


def of_at_most(most_bytes: int) -> Callable[[Any], Any]:
    """A check that returns the value itself. It raises ValueError, with words that follow its place, for a larger one,
    and for a text that is no Unicode.
    """

    def checked(value: Any) -> Any:
        try:
            size = len(json.dumps(value, ensure_ascii=False).encode())
        except UnicodeEncodeError:
            raise ValueError("holds a character that is not valid Unicode") from None
        if size > most_bytes:
            raise ValueError(f"must have at most {most_bytes:,} bytes as JSON")
        return value

    return checked
