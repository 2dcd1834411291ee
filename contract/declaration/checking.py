"""An input held against its model, and what is wrong with it in words: the same for the service and for the tools."""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Literal, TypeVar

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from callwright.contract.checks.bounds import MOST_PROBLEMS, Place, Problem, Shape, outgrown, shape_of
from callwright.contract.declaration.model import Input

In = TypeVar("In", bound=Input)
_SHOWN = 40
"""Characters of a wrong word that are repeated."""
_MOST_DIGITS = 4
"""A text with more digits may be a telephone number, and is not repeated."""
_MOMENT = "should be a moment with its offset, for example 2026-11-21T09:30:00Z"
_WORDS: Mapping[str, str] = {
    "missing": "is required",
    "string_type": "should be text",
    "int_type": "should be a whole number",
    "int_parsing": "should be a whole number",
    "int_parsing_size": "should be a smaller number",
    "int_from_float": "should be a whole number",
    "float_type": "should be a number",
    "float_parsing": "should be a number",
    "finite_number": "should be a number that is not endless",
    "bool_type": "should be true or false",
    "bool_parsing": "should be true or false",
    "list_type": "should be a list",
    "dict_type": "should be an object",
    "model_type": "should be an object",
    "model_attributes_type": "should be an object",
    "json_invalid": "is nested too deeply, or holds a character that is not valid Unicode",
    "string_unicode": "holds a character that is not valid Unicode",
    "timezone_aware": _MOMENT,
    "datetime_type": _MOMENT,
    "datetime_parsing": _MOMENT,
    "datetime_from_date_parsing": _MOMENT,
    "datetime_object_invalid": _MOMENT,
    "union_tag_invalid": "must have as its type one of {expected_tags}",
    "union_tag_not_found": "needs a type",
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
    "greater_than": "must be more than {gt}",
    "less_than": "must be less than {lt}",
    "string_too_long": "has too many characters; at most {max_length} are allowed",
    "string_too_short": "needs at least {min_length} characters",
    "too_long": "has {actual_length} entries; at most {max_length} are allowed",
    "too_short": "needs more entries; at least {min_length}",
}


_CODES: Mapping[str, Literal["missing", "unknown"]] = {"missing": "missing", "extra_forbidden": "unknown"}


class BadInput(ValueError):
    """What is wrong with an input: the first problems, and how many more there are."""

    def __init__(self, problems: Sequence[Problem], more: int) -> None:
        super().__init__(f"{len(problems) + more} problems")
        self.problems = tuple(problems)
        self.more = more


def checked(model: type[In], sent: Mapping[str, Any], *, is_json: bool) -> In:
    """The input that was sent: parsed JSON, whose types have to fit exactly, or the texts of a query.

    Raises:
        BadInput: a piece of it is too large, or wrong.
    """
    bound(model, sent)
    return fitting(model, sent, is_json=is_json)


def bound(model: type[Input], sent: Mapping[str, Any]) -> None:
    """Looks at the size of each piece of an input. Raises `BadInput`: one of them is too large."""
    problems, more = outgrown(model, sent)
    if problems:
        raise BadInput(problems, more)


def fitting(model: type[In], sent: Mapping[str, Any], *, is_json: bool) -> In:
    """The input that was sent, none of whose pieces is too large. As `checked` otherwise. Raises `BadInput`."""
    try:
        return model.model_validate(sent, strict=is_json)
    except ValidationError as error:
        raise _bad(error, model) from error


def fields_at(model: type[Input], place: Place) -> list[str]:
    """The fields that the object around a place may have."""
    around = shape_of(model).at(place[:-1])
    return [] if around is None or around.fields is None else list(around.fields)


def meant(name: str, known: Sequence[str]) -> str | None:
    """The known name that somebody may have meant."""
    return next(iter(get_close_matches(name, known, n=1)), None) if len(name) <= _SHOWN else None


def _bad(error: ValidationError, model: type[Input]) -> BadInput:
    shape = shape_of(model)
    entries = error.errors(include_url=False)
    places = [_place(entry, shape) for entry in entries]
    inner = {place[:length] for place in places for length in range(1, len(place))}
    problems: dict[Place, Problem] = {}
    for entry, place in zip(entries, places, strict=True):
        if place in problems or (place in inner and len(place) < len(entry["loc"])):
            continue  # another branch of a choice of types says the same, or says it of an entry
        problems[place] = Problem(_CODES.get(entry["type"], "invalid"), place, _said(entry, shape.at(place), place))
    found = list(problems.values())
    return BadInput(found[:MOST_PROBLEMS], max(0, len(found) - MOST_PROBLEMS))


def _place(entry: ErrorDetails, shape: Shape) -> Place:
    """Where it is, without the steps that pydantic adds for the branches of a choice of types."""
    steps: list[str | int] = []
    for step in entry["loc"]:
        known = shape.at((*steps, step))
        if known is not None or (entry["type"] == "extra_forbidden" and step == entry["loc"][-1]):
            steps.append(step)
    return tuple(steps)


def _said(entry: ErrorDetails, shape: Shape | None, place: Place) -> str:
    kind = entry["type"]
    if kind == "extra_forbidden":
        return ""
    if kind == "string_pattern_mismatch":
        example = f"; a right one is {shape.example}" if shape is not None and shape.example else ""
        about = f". {shape.description}" if shape is not None and shape.description else ""
        words = f"has the wrong form{example}{about.rstrip('.')}"
    else:
        words = said_of(entry)
    return words + _which(entry, place)


def said_of(entry: ErrorDetails) -> str:
    """What pydantic found wrong with a value, in plain words that follow the name of its place."""
    kind, ctx = entry["type"], entry.get("ctx", {})
    if ctx.get("min_length") == 1:
        return "must not be empty"
    if kind in _WORDS:
        return _WORDS[kind].format(**ctx)
    words = entry["msg"].removeprefix("Value error, ").removeprefix("Input ")
    return words[:1].lower() + words[1:]


def _which(entry: ErrorDetails, place: Place) -> str:
    """The wrong word of a list, shortened. What may be a telephone number is not repeated."""
    value: object = entry["input"]
    if not isinstance(value, str) or not any(isinstance(step, int) for step in place):
        return ""
    if sum(map(str.isdigit, value[:_SHOWN])) > _MOST_DIGITS:
        return ""
    shown = value if len(value) <= _SHOWN else value[: _SHOWN - 1] + "…"
    return f', not "{shown}"' if shown.isprintable() else ""
