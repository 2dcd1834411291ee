"""Takes the secrets that were sent out of what is answered: some addresses repeat the headers of a request."""

import json
from collections.abc import Iterable, Sequence
from typing import cast

from pydantic import JsonValue

from callwright.service.telephony.media.turns.encodable import encodable

BLANK = "[secret]"
_LEAST = 4
"""A value that is shorter is none that can be kept secret, and stands in words by chance."""


def secrets_in(values: Iterable[str]) -> Sequence[str]:
    """What must not be read, the longest first: the values of headers, and what stands behind a scheme (`Bearer …`)."""
    found = {part for value in values for part in (value, value.partition(" ")[2].strip())}
    return sorted((part for part in found if len(part) >= _LEAST), key=len, reverse=True)


def blanked(text: str, secrets: Sequence[str]) -> str:
    """The text without the secrets."""
    for secret in secrets:
        text = text.replace(secret, BLANK)
    return text


def read_answer(text: str, secrets: Sequence[str]) -> tuple[str, JsonValue]:
    """An answer as text and as a value, without the secrets; the value of what is no JSON is the text.

    JSON can spell a secret, or half a character, so that its text does not show it. So the value is searched too.
    """
    try:
        value = cast("JsonValue", json.loads(text))
        clean = _without(value, secrets)
        if clean == value and blanked(text, secrets) == text:
            return encodable(text), clean
        return json.dumps(clean, ensure_ascii=False), clean
    except (ValueError, RecursionError):
        plain = encodable(blanked(text, secrets))
        return plain, plain


def _without(value: JsonValue, secrets: Sequence[str]) -> JsonValue:
    if isinstance(value, str):
        return encodable(blanked(value, secrets))
    if isinstance(value, list):
        return [_without(one, secrets) for one in value]
    if isinstance(value, dict):
        return {encodable(blanked(name, secrets)): _without(one, secrets) for name, one in value.items()}
    return BLANK if str(value) in secrets else value
