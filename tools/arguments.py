"""Arguments of a tool, held strictly against its model. What is wrong is said in one line, without repeating values."""

import json
from collections.abc import Mapping
from types import UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, cast, get_args, get_origin

from mcp.server.mcpserver.exceptions import ToolError
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from callwright.contract.model import Input

from .text import shortened
from .tool import Tool
from .untrusted import cleaned

In = TypeVar("In", bound=Input)

LIST_LENGTH = 20
"""Entries a list tool asks for when the model names no number; programs get the contract's default."""

_MOST_ERRORS = 8


def validated(tool: Tool, arguments: dict[str, Any]) -> Input:
    """The arguments as the tool's model.

    Raises:
        ToolError: `Invalid arguments: field: what is wrong; …`; unknown fields come with the allowed ones.
    """
    model = tool.arguments
    given = unwrapped(model, arguments)
    if hidden := [name for name in given if name in model.model_fields and name not in tool.offered]:
        raise ToolError(f"Invalid arguments: {hidden[0]}: unknown argument. {_allowed(tool)}")
    if tool.operation.shape == "many":
        given.setdefault("per_page", LIST_LENGTH)
    try:
        return model.model_validate_json(json.dumps(given, allow_nan=False), strict=True)
    except ValidationError as error:
        raise ToolError(f"Invalid arguments: {_said(error, tool)}") from error
    except (ValueError, RecursionError) as error:
        raise ToolError("Invalid arguments: they hold a value that JSON cannot carry.") from error


def unwrapped(model: type[Input], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments, with objects and lists where a host has sent them as JSON text."""
    return {name: _unwrapped(value, model, name) for name, value in arguments.items()}


def narrowed(asked: Input, to: type[In]) -> In:
    """The part of a tool's arguments that belongs to its operation. What was not given stays not given."""
    kept = {name: getattr(asked, name) for name in asked.model_fields_set if name in to.model_fields}
    return to.model_construct(_fields_set=set(kept), **{**_defaults(to), **kept})


def _defaults(model: type[Input]) -> dict[str, Any]:
    return {name: field.get_default() for name, field in model.model_fields.items() if not field.is_required()}


def _unwrapped(value: Any, model: type[Input], name: str) -> Any:
    """Some hosts send an object or a list as JSON text. Where text cannot be meant, it is read as what it means."""
    field = model.model_fields.get(name)
    if field is None or not isinstance(value, str) or value[:1] not in ("{", "[") or takes_text(field.annotation):
        return value
    try:
        found = json.loads(value)
    except (ValueError, RecursionError):
        return value
    return cast("Any", found) if isinstance(found, dict | list) else value


def takes_text(annotation: Any) -> bool:
    """Whether a string may be meant by an argument of this type: text, a choice of words, a moment."""
    if isinstance(annotation, type):
        return not issubclass(annotation, BaseModel | list | dict)
    origin = get_origin(annotation)
    if origin is Literal:
        return True
    if origin is Annotated:
        return takes_text(get_args(annotation)[0])
    if origin in (Union, UnionType):
        return any(takes_text(branch) for branch in get_args(annotation) if branch is not type(None))
    return origin not in (list, dict)


def _allowed(tool: Tool) -> str:
    return f"Allowed: {', '.join(tool.offered) or 'none'}."


def _said(error: ValidationError, tool: Tool) -> str:
    found = error.errors(include_url=False, include_input=False)
    parts = [_one(entry, tool) for entry in found[:_MOST_ERRORS]]
    if len(found) > _MOST_ERRORS:
        parts.append(f"and {len(found) - _MOST_ERRORS} more")
    return "; ".join(parts)


def _one(entry: ErrorDetails, tool: Tool) -> str:
    where = shortened(cleaned(".".join(str(step) for step in entry["loc"] if not _branch(step))), 80)
    if entry["type"] == "extra_forbidden":
        allowed = f" {_allowed(tool)}" if len(entry["loc"]) == 1 else ""
        return f"{where}: unknown argument.{allowed}"
    if entry["type"] == "missing":
        return f"{where}: required"
    if entry["type"] == "json_invalid":
        return "they hold a character that is not valid Unicode"
    message = entry["msg"].removeprefix("Value error, ").removeprefix("Input ")
    return f"{where}: {message[:1].lower()}{message[1:]}" if where else message


def _branch(step: int | str) -> bool:
    """Steps that pydantic adds for branches of a union, which the caller never sees."""
    return isinstance(step, str) and ("[" in step or step in ("none", "nullable"))
