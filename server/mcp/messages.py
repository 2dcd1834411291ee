"""Checks the form and size of a protocol message before the SDK reads it.

The SDK answers invalid messages with its parser's text, at a cost far above that of parsing, and repeats names and URIs
of any length. Here each error is described, and repeated values are short.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.types import INVALID_PARAMS, INVALID_REQUEST
from pydantic import ValidationError

LONGEST_ID = 255
"""The most characters of values that are sent back: the id of a message, and its progress token."""
LONGEST_METHOD = 200
LONGEST_TEXT = 4_000
"""The most characters of a name, a URI or a word in the protocol's own parameters."""
MOST_ENTRIES = 100
"""The most entries of a list or an object in them."""
MOST_IN_ALL = 2_000
"""The most entries of all lists and objects in them."""
LARGEST_ID = 2**63
"""Integer ids must be below this."""
_DEEPEST = 4
_FREE = frozenset({"_meta", "requestState"})
"""Parameters of any form: the SDK repeats none of them."""
_VERSION = "io.modelcontextprotocol/protocolVersion"
_SEND = 'Send {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}} or the like.'
_SURROGATES = re.compile("[\ud800-\udfff]")
"""Lone surrogates, which JSON can write and no text can hold."""
_NOT_BEGUN = "This connection has not begun. Send initialize first, then notifications/initialized, then this again."
_LOST = {"reason": "invalid_request_state"}
_ASK_ANEW = (
    "requestState: the question it belongs to is not known here, or counts no longer. Nothing was done. "
    "Call again without requestState to ask anew."
)
_ID = "id: must be text or a whole number, and below 2**63; leave it out of a notification"


@dataclass(frozen=True)
class MessageError:
    """An error of a message, as in JSON-RPC. `id` is that of the message, if it has one."""

    code: int
    message: str
    id: str | int | None = None


def message_error(message: object) -> MessageError | None:
    """The error in the form of a message, if any. A method's own parameters are checked later."""
    if isinstance(message, list):
        return MessageError(INVALID_REQUEST, f"A list of messages is not taken: send each by itself. {_SEND}")
    if not isinstance(message, dict):
        return MessageError(INVALID_REQUEST, f"A message is a JSON object. {_SEND}")
    sent = cast("dict[str, Any]", message)
    known = _known_id(sent.get("id"))
    if sent.get("jsonrpc") != "2.0":
        return MessageError(INVALID_REQUEST, f'jsonrpc: must be "2.0". {_SEND}', known)
    if (wrong := _too_long("id", sent.get("id"), LONGEST_ID)) is not None:
        return MessageError(INVALID_REQUEST, wrong)
    if "id" in sent and known is None and ("method" in sent or "error" not in sent or sent["id"] is not None):
        return MessageError(INVALID_REQUEST, _ID)
    if "method" not in sent:
        wrong = _wrong_answer(sent)
        return None if wrong is None else MessageError(INVALID_REQUEST, wrong, known)
    if (wrong := _wrong_method(sent["method"])) is not None:
        return MessageError(INVALID_REQUEST, wrong, known)
    params: object = sent.get("params")
    if params is not None and not isinstance(params, dict):
        return MessageError(INVALID_PARAMS, "params: must be an object; leave it out where there are none", known)
    meta = _object(_object(sent.get("params")).get("_meta"))
    wrong = _too_long("progressToken", meta.get("progressToken"), LONGEST_ID)
    wrong = wrong or _too_long(f"params._meta.{_VERSION}", meta.get(_VERSION), LONGEST_METHOD)
    return None if wrong is None else MessageError(INVALID_REQUEST, wrong, known)


async def checking(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """Middleware that refuses requests whose method or parameters are too large to be repeated, or of a wrong form."""
    if ctx.request_id is not None:
        wrong = _wrong_method(ctx.method)
        free = _FREE | {"arguments"} if ctx.method == "tools/call" else _FREE  # tools bound their arguments themselves
        wrong = wrong or _too_large(ctx.params, free)
        if wrong is not None:
            raise MCPError(code=INVALID_PARAMS, message=wrong)
    try:
        return await call_next(ctx)
    except ValidationError as error:
        from callwright.server.mcp.wrong_params import wrong_params

        if (wrong := wrong_params(ctx.method, ctx.protocol_version, ctx.params)) is None:
            raise
        raise MCPError(code=INVALID_PARAMS, message=wrong) from error
    except MCPError as error:
        if error.error.code == INVALID_PARAMS and error.error.data == "":  # what the SDK answers then, without a text
            raise MCPError(code=INVALID_PARAMS, message=_NOT_BEGUN) from error
        raise


async def explain_lost_state(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """Middleware that explains a refused request state, for example after a restart, or after the clock was set back.
    It wraps the middleware that opens sealed states, so it comes first in the list.
    """
    try:
        return await call_next(ctx)
    except MCPError as error:
        data = error.error.data
        if error.error.code != INVALID_PARAMS or data != _LOST:
            raise
        raise MCPError(code=INVALID_PARAMS, message=_ASK_ANEW, data=data) from error


def _known_id(found: object) -> str | int | None:
    """An id that can be sent back."""
    if isinstance(found, str):
        is_sendable = len(found) <= LONGEST_ID and not _SURROGATES.search(found)
        return found if is_sendable else None
    if isinstance(found, int) and not isinstance(found, bool):
        return found if abs(found) < LARGEST_ID else None
    return None


def _wrong_method(method: object) -> str | None:
    if not isinstance(method, str):
        return f"method: must be text. {_SEND}"
    return _too_long("method", method, LONGEST_METHOD)


def _wrong_answer(sent: Mapping[str, Any]) -> str | None:
    """The error in a message without a method, which is an answer to a request of the server."""
    if "error" in sent:
        error = _object(sent["error"])
        if not isinstance(error.get("code"), int) or not isinstance(error.get("message"), str):
            return "error: must be an object with a code, a whole number, and a message, text"
        return _too_long("error.message", error["message"], LONGEST_TEXT)
    if "result" in sent:
        if "id" not in sent:
            return _ID
        return None if isinstance(sent["result"], dict) else "result: must be an object"
    return f"method: is required. {_SEND}"


def _too_large(params: object, free: frozenset[str]) -> str | None:
    """The first text, list or object in the parameters that is too large."""
    found = _outgrown(params, free, 0, [MOST_IN_ALL])
    return None if found is None else f"params{found[0]}: {found[1]}"


def _outgrown(value: object, free: frozenset[str], deep: int, left: list[int]) -> tuple[str, str] | None:
    """The place inside a value that is too large, and its size; `left` is how many entries are still allowed."""
    if isinstance(value, str):
        said = _many(len(value), LONGEST_TEXT, "characters")
        return None if said is None else ("", said)
    if not isinstance(value, list | Mapping):
        return None
    inside = cast("Mapping[str, Any] | list[Any]", value)
    if (said := _many(len(inside), MOST_ENTRIES, "entries")) is not None:
        return "", said
    left[0] -= len(inside)
    if left[0] < 0:
        return "", f"has more entries than the {MOST_IN_ALL} that are allowed in all"
    if deep == _DEEPEST:
        return None
    for key, entry in inside.items() if isinstance(inside, Mapping) else enumerate(inside):
        if isinstance(entry, str | list | Mapping) and key not in free:
            found = _outgrown(cast("object", entry), frozenset(), deep + 1, left)
            if found is not None:
                return f".{str(key)[:LONGEST_METHOD]}{found[0]}", found[1]
    return None


def _many(count: int, most: int, what: str) -> str | None:
    return None if count <= most else f"has {count} {what}; at most {most} are allowed"


def _too_long(name: str, value: object, most: int) -> str | None:
    said = _many(len(value), most, "characters") if isinstance(value, str) else None
    return None if said is None else f"{name}: {said}"


def _object(value: object) -> Mapping[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
