"""Text that can be written as UTF-8: JSON can name half a character (`\\ud800`), which cannot."""

import re

from pydantic import JsonValue

_HALF = re.compile("[\ud800-\udfff]")


def encodable(text: str) -> str:
    """The text with a replacement character (U+FFFD) for each half of a character."""
    return _HALF.sub("\ufffd", text)


def encodable_value(value: JsonValue) -> JsonValue:
    """A JSON value whose texts are `encodable`, those of names too."""
    if isinstance(value, str):
        return encodable(value)
    if isinstance(value, list):
        return [encodable_value(one) for one in value]
    if isinstance(value, dict):
        return {encodable(name): encodable_value(one) for name, one in value.items()}
    return value
