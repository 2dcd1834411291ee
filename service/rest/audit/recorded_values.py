"""Values in the audit log: without secrets, with masked telephone numbers, and of bounded length."""

import hashlib
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, cast

from callwright.service.platform.json_text import json_text
from callwright.service.platform.phone import masked

SECRET = "(secret)"
LONG_TEXT = 2_000
"""The most characters of a text that is recorded in full."""
BEGINNING = 200
"""Characters that are recorded of a longer text."""
MOST_BYTES = 16_384
"""Bytes of JSON that the changes of one entry may take."""

_SECRET_NAME = re.compile(r"(?i)(.*_)?(secret|password|token|api_key|authorization)")
_SECRET_VALUE = re.compile(r"(?:whsec_|svc_live_|svc_mcp_|tlk_|upl_)\S*")
_NUMBER = re.compile(r"\+[1-9](?:[ ().-]{0,2}[0-9]){6,14}")


def recorded(name: str, value: Any, *, is_own: bool = False) -> Any:
    """A field's value as it is recorded: JSON without secrets, with masked numbers, and the beginning of long texts.

    `is_own`: the value is a number that the organization rents, which is not masked.
    """
    if value is None:
        return None
    if _is_secret(name):
        return SECRET
    if isinstance(value, str):
        return _text(value, is_own=is_own)
    if isinstance(value, Mapping):
        entries = cast("Mapping[str, Any]", value)
        return {_clean(key, is_own=False): recorded(key, entry) for key, entry in entries.items()}
    if isinstance(value, list):
        return [recorded(name, entry) for entry in cast("list[Any]", value)]
    return value


@lru_cache(maxsize=1_000)
def _is_secret(name: str) -> bool:
    return _SECRET_NAME.fullmatch(name) is not None


def _text(text: str, *, is_own: bool) -> Any:
    clean = _clean(text, is_own=is_own)
    if len(text) <= LONG_TEXT:
        return clean
    digest = hashlib.sha256(text.encode()).hexdigest()
    return {"characters": len(text), "sha256": digest, "begins": clean[:BEGINNING]}


def _clean(text: str, *, is_own: bool) -> str:
    if "whsec_" in text or "svc_" in text or "tlk_" in text:
        if _SECRET_VALUE.match(text):
            return SECRET
        text = _SECRET_VALUE.sub(SECRET, text)
    return text if is_own or "+" not in text else _NUMBER.sub(lambda found: masked(found[0]), text)


def size_of(value: Any) -> dict[str, int]:
    """What is recorded of rows and files: their number or length."""
    return {"characters": len(value)} if isinstance(value, str) else {"count": len(value)}


def too_long(changes: Mapping[str, Any]) -> Mapping[str, Any]:
    """The changes; only their names and a mark if they take more than `MOST_BYTES`."""
    if len(json_text(changes).encode()) <= MOST_BYTES:
        return changes
    return {"fields": sorted(changes), "too_long": True}
