"""How many lists and objects a JSON text may hold: counted in its bytes, before anybody reads it.

Each of them costs what reads, checks and copies the text far more than its two brackets, and the garbage collector
walks them all. No input has a use for so many.
"""

import re

MOST_CONTAINERS = 20_000
"""Lists and objects of one JSON text."""
CROWDED = f"It holds more than {MOST_CONTAINERS:,} lists and objects. Send it in smaller parts, and values as text."
_TEXT = re.compile(rb'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
"""A text in JSON. It takes all of one that does not end, so that no byte is looked at twice."""


def is_crowded(json_text: bytes) -> bool:
    """Whether it holds more lists and objects than that. Brackets in its texts do not count."""
    if brackets(json_text) <= MOST_CONTAINERS:
        return False
    return brackets(_TEXT.sub(b"", json_text)) > MOST_CONTAINERS


def brackets(text: bytes) -> int:
    """Opening brackets in a JSON text, those in its texts among them: it has no more lists and objects than that."""
    return text.count(b"[") + text.count(b"{")
