"""Checks the bytes of a message before the SDK parses them, whose error messages are those of its parser."""

import json
import math
from collections.abc import Iterator
from typing import Any, cast

import orjson
from mcp.types import INVALID_REQUEST, PARSE_ERROR

from callwright.contract.checks.json_containers import CROWDED, brackets, is_crowded
from callwright.contract.checks.json_keys import key_twice, keys_in
from callwright.server.mcp.messages import MessageError, message_error

DEEPEST = 100
"""The most levels of lists and objects in a message. The SDK's parsers allow 200."""
MOST_KEYS = 10_000
"""The most keys of one object in a message. Nothing takes so many, and the SDK's parsers read them three times."""
_LONGEST_PLACE = 200
_SEND = "Send one message, a JSON object in UTF-8."
_BOM = b"\xef\xbb\xbf"
_UTF_16 = (b"\xff\xfe", b"\xfe\xff", b"{\x00", b"\x00{")


def fault_in(body: bytes) -> MessageError | None:
    """Why a message must not reach the SDK; None if it may."""
    if is_crowded(body):
        return MessageError(INVALID_REQUEST, CROWDED)
    if (wrong := _no_text(body)) is not None:
        return MessageError(PARSE_ERROR, f"{wrong} {_SEND}")
    try:
        message: object = orjson.loads(body)
        is_strict = True
    except ValueError:
        is_strict = False
        try:
            message = json.loads(body)  # accepts NaN and lone surrogates, so that their place can be reported
        except (ValueError, RecursionError) as error:
            return MessageError(PARSE_ERROR, f"{_no_json(error, body)} {_SEND}")
    if (fault := message_error(message)) is not None:
        return fault
    known = cast("dict[str, Any]", message).get("id")
    keys = keys_in(message, deepest=DEEPEST, containers=brackets(body))
    if keys is None:
        said = f"The message is nested more than {DEEPEST} levels deep. Send flatter values, or values as text."
        return MessageError(INVALID_REQUEST, said, known)
    if keys.in_one > MOST_KEYS:
        said = f"An object in the message has {keys.in_one:,} keys; at most {MOST_KEYS:,} are allowed. Send fewer."
        return MessageError(INVALID_REQUEST, said, known)
    if not is_strict:
        for place, said in _no_values(message, ""):
            return MessageError(PARSE_ERROR, f"{place or 'The message'}: {said}", known)
    if (twice := key_twice(body, keys)) is not None:
        said = f"The key {twice!a} stands twice in one object. Send each key once."
        return MessageError(INVALID_REQUEST, said, known)
    return None


def _no_text(body: bytes) -> str | None:
    """Why bytes are not UTF-8 text."""
    if not body.strip():
        return "The message is empty."
    if body.startswith(_BOM):
        return "The message begins with a byte order mark. Leave it out."
    if body.startswith(_UTF_16):
        return "The message is in UTF-16."
    try:
        body.decode()
    except UnicodeDecodeError as error:
        return f"The message is not UTF-8: byte {error.start + 1} belongs to no character."
    return None


def _no_json(error: Exception, body: bytes) -> str:
    if isinstance(error, RecursionError):
        return f"The message is nested more than {DEEPEST} levels deep."
    if not isinstance(error, json.JSONDecodeError):
        return "The message is not JSON: it holds a number of too many digits."
    if error.pos >= len(error.doc.rstrip()) or error.msg.startswith("Unterminated"):
        return "The message is not JSON: it ends too early."
    return f"The message is not JSON: character {error.pos + 1} has no place there."


def _no_values(value: object, place: str) -> Iterator[tuple[str, str]]:
    """Values in a message that JSON does not have, each with its place."""
    if isinstance(value, str) and not _is_sound(value):
        yield place, "holds half a character (a lone surrogate). Send whole characters."
    elif isinstance(value, float) and not math.isfinite(value):
        yield place, "is not a number that JSON has (NaN, or endless). Send a number, or leave it out."
    elif isinstance(value, dict):
        for key, entry in cast("dict[str, object]", value).items():
            if not _is_sound(key):
                yield place, "has a key with half a character (a lone surrogate). Send whole characters."
            else:
                yield from _no_values(entry, _place(place, key))
    elif isinstance(value, list):
        for index, entry in enumerate(cast("list[object]", value)):
            yield from _no_values(entry, _place(place, str(index)))


def _place(around: str, step: str) -> str:
    if len(around) + len(step) >= _LONGEST_PLACE or not step.isprintable():
        return around
    return f"{around}.{step}" if around else step


def _is_sound(text: str) -> bool:
    return text.isascii() or not any("\ud800" <= char <= "\udfff" for char in text)
