"""Validates a tool's arguments strictly against its model. Errors are put in one line, without repeating values."""

from collections.abc import Mapping
from types import UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, cast, get_args, get_origin

from mcp.server.mcpserver.exceptions import ToolError
from pydantic import BaseModel
from pydantic_core import from_json

from callwright.contract.checks.bounds import Place, Problem
from callwright.contract.declaration.checking import BadInput, bound, fields_at, fitting, meant
from callwright.contract.declaration.model import Input
from callwright.tools.numbers.masking import masked_column
from callwright.tools.runtime.tool import Tool
from callwright.tools.wording.cleaning import cleaned
from callwright.tools.wording.text import shortened

In = TypeVar("In", bound=Input)

LIST_LENGTH = 20
"""Entries a list tool requests when the model gives no number; programs get the contract's default."""


def validated(tool: Tool, arguments: dict[str, Any]) -> Input:
    """Validates arguments that `bounded` returned, and returns them as the tool's model.

    Raises:
        ToolError: `Invalid arguments: field: what is wrong; …`; unknown fields come with the allowed ones.
    """
    model = tool.arguments
    given = dict(arguments)
    if hidden := [name for name in model.model_fields if name in given and name not in tool.offered]:
        raise ToolError(f"Invalid arguments: {hidden[0]}: unknown argument{_allowed(tool, (hidden[0],))}")
    missing = [f"{tool.shown(name)}: required" for name in sorted(tool.required) if given.get(name) is None]
    if tool.operation.shape == "many":
        given.setdefault("per_page", LIST_LENGTH)
    try:
        found = fitting(model, given, is_json=True)
    except BadInput as error:
        raise ToolError(f"Invalid arguments: {'; '.join((*missing, _said(error, tool)))}") from error
    if missing:
        raise ToolError(f"Invalid arguments: {'; '.join(missing)}")
    return found


def bounded(tool: Tool, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments, with values parsed that hosts sent as JSON text, and none larger than the tool takes.

    Raises:
        ToolError: a text, a list or an object of them is too large.
    """
    model = tool.arguments
    known = [name for name in model.model_fields if name in arguments]
    given = {**arguments, **{name: unwrapped(arguments[name], model, name) for name in known}}
    try:
        bound(model, given)
    except BadInput as error:
        raise ToolError(f"Invalid arguments: {_said(error, tool)}") from error
    return given


def narrowed(asked: Input, to: type[In]) -> In:
    """The part of a tool's arguments that belongs to its operation. What was not given stays not given."""
    kept = {name: getattr(asked, name) for name in asked.model_fields_set if name in to.model_fields}
    defaults = {name: field.get_default() for name, field in to.model_fields.items() if not field.is_required()}
    return to.model_construct(_fields_set=set(kept), **{**defaults, **kept})


def unwrapped(value: Any, model: type[Input], name: str) -> Any:
    """Some hosts send an object or a list as JSON text. It is parsed where the argument does not take text."""
    field = model.model_fields.get(name)
    if field is None or not isinstance(value, str) or value[:1] not in ("{", "[") or takes_text(field.annotation):
        return value
    try:
        found = from_json(value, allow_inf_nan=False)
    except ValueError:
        return value
    return cast("Any", found) if isinstance(found, dict | list) else value


def takes_text(annotation: Any) -> bool:
    """Whether an argument of this type takes a string: text, a choice of words, a time."""
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


def _said(bad: BadInput, tool: Tool) -> str:
    parts: list[str] = []
    listed: set[Place] = set()
    for problem in bad.problems:
        parts.append(_one(problem, tool, lists=problem.place[:-1] not in listed))
        if problem.code == "unknown":
            listed.add(problem.place[:-1])
    if bad.more:
        parts.append(f"and {bad.more} more")
    return "; ".join(parts)


def _one(problem: Problem, tool: Tool, *, lists: bool) -> str:
    place = (tool.shown(str(problem.place[0])), *problem.place[1:]) if problem.place else ()
    where = shortened(".".join(masked_column(cleaned(str(step))) for step in place), 80)
    if problem.code == "unknown":
        return f"{where}: unknown argument{_allowed(tool, problem.place, lists=lists)}"
    if problem.code == "missing":
        return f"{where}: required"
    said = cleaned(problem.message)
    return f"{where}: {said}" if where else f"what was sent {said}"


def _allowed(tool: Tool, place: Place, *, lists: bool = True) -> str:
    """The allowed fields, and those that are near to an unknown one. They are listed once for each object."""
    known = list(map(tool.shown, tool.offered)) if len(place) == 1 else fields_at(tool.arguments, place)
    near = meant(str(place[-1]), known)
    asked = f" Did you mean {near}?" if near else ""
    every = f" Allowed: {', '.join(known) or 'none'}." if lists else ""
    return f".{asked}{every}" if asked or every else ""
