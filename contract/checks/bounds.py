"""How large the pieces of an input may be, as its model declares it: looked at before anything else is.

Checking values one by one takes long for a list of a hundred thousand, and so does saying what is wrong with each. So
lengths come first, and an input that is too large anywhere goes no further.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from typing import Any, Literal, cast

from pydantic import BaseModel

MOST_PROBLEMS = 20
"""Problems of one input that are named; of the others it is said how many there are."""
MOST_INSIDE = 100
"""Entries of each list and object in a value whose shape nothing declares."""
MOST_DEEP = 5
"""Levels of lists and objects in such a value."""
LONGEST_TEXT = 200
"""Characters of a text of which the model says something else than its length: a moment, a choice of words."""
_LONGEST_CODE = 3
"""Characters of a code, of which it is said what it stands for."""
LONGEST_KEY = 1_000
"""Characters of a name in an object that may have any names, for example of a column."""
_CONTAINERS = frozenset((list, dict))
_Json = dict[str, Any]
Place = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with an input: where, and in words that follow the name of the place."""

    code: Literal["missing", "unknown", "invalid"]
    place: Place
    message: str


@dataclass(frozen=True, slots=True)
class Shape:
    """What a value may be like. None stands for what it may not be: a text, a list, an object."""

    text: int | None = None
    """Characters of it as a text."""
    entries: int | None = None
    """Entries of it as a list, each of the shape `each`."""
    each: "Shape | None" = None
    fields: "Mapping[str, Shape] | None" = None
    """What an object may have."""
    most_keys: int | None = None
    """Entries of an object that may have any keys, each of the shape `value`."""
    value: "Shape | None" = None
    is_anything: bool = False
    description: str = ""
    example: str = ""

    def at(self, place: Place) -> "Shape | None":
        """The shape of what stands at a place inside; None where the model knows no such place."""
        found: Shape | None = self
        for step in place:
            if found is None:
                return None
            found = found.each if isinstance(step, int) else (found.fields or {}).get(step, found.value)
        return found


@cache
def shape_of(model: type[BaseModel]) -> Shape:
    """The shape of what a model takes."""
    schema = model.model_json_schema(mode="validation")
    return _read(schema, cast("dict[str, _Json]", schema.get("$defs", {})))


def _read(node: _Json, defs: Mapping[str, _Json]) -> Shape:
    if "$ref" in node:
        node = {**defs[str(node["$ref"]).rsplit("/", 1)[-1]], **{k: v for k, v in node.items() if k != "$ref"}}
    description = str(node.get("description", ""))
    example = str(next(iter(node.get("examples", ())), ""))
    choices = cast("list[_Json]", node.get("anyOf", node.get("oneOf", [])))
    branches = [one for one in choices if one.get("type") != "null"]
    if branches:
        return _choice([_read(branch, defs) for branch in branches], description, example)
    kind = node.get("type")
    if kind is None and "enum" not in node and "const" not in node:
        return Shape(is_anything=True, description=description, example=example)
    if kind == "array":
        each = _read(node["items"], defs)
        return Shape(entries=node.get("maxItems"), each=each, description=description, example=example)
    if kind != "object":
        return Shape(text=node.get("maxLength", LONGEST_TEXT), description=description, example=example)
    if "properties" in node or node.get("additionalProperties") is False:
        fields = {name: _read(one, defs) for name, one in cast("dict[str, _Json]", node.get("properties", {})).items()}
        return Shape(fields=fields, description=description, example=example)
    others: object = node.get("additionalProperties")
    value = _read(cast("_Json", others), defs) if isinstance(others, dict) else Shape(is_anything=True)
    return Shape(most_keys=node.get("maxProperties"), value=value, description=description, example=example)


def _choice(branches: Sequence[Shape], description: str, example: str) -> Shape:
    """The shape of what may be like any of several."""
    return Shape(
        text=max((one.text for one in branches if one.text is not None), default=None),
        entries=next((one.entries for one in branches if one.entries is not None), None),
        each=next((one.each for one in branches if one.each is not None), None),
        fields=_fields_of(branches),
        most_keys=next((one.most_keys for one in branches if one.most_keys is not None), None),
        value=next((one.value for one in branches if one.value is not None), None),
        is_anything=any(one.is_anything for one in branches),
        description=description or next((one.description for one in branches if one.description), ""),
        example=example or next((one.example for one in branches if one.example), ""),
    )


def _fields_of(branches: Sequence[Shape]) -> Mapping[str, Shape] | None:
    """The fields of all objects among the branches; None if none is one. Which belong together, the model knows."""
    objects = [one.fields for one in branches if one.fields is not None]
    return {name: shape for fields in reversed(objects) for name, shape in fields.items()} if objects else None


@dataclass(slots=True)
class _Problems:
    """The first problems, and how many more there are."""

    named: list[Problem] = field(default_factory=list[Problem])
    more: int = 0

    def add(self, place: Place, message: str, code: Literal["unknown", "invalid"] = "invalid") -> None:
        if len(self.named) < MOST_PROBLEMS:
            self.named.append(Problem(code, place, message))
        else:
            self.more += 1


def outgrown(model: type[BaseModel], sent: Mapping[str, Any]) -> tuple[Sequence[Problem], int]:
    """The first twenty pieces of an input that are larger than its model allows, and how many more there are.

    None where all are within their bounds. What is wrong with them otherwise is not looked at.
    """
    found = _Problems()
    _object(sent, shape_of(model), (), found)
    return found.named, found.more


def _look(value: object, shape: Shape, place: Place, found: _Problems) -> None:
    if isinstance(value, str):
        meant = shape if shape.text is not None or shape.each is None else shape.each
        if meant.text is not None and len(value) > meant.text:
            code = f"; {meant.description} Such as {meant.example}" if meant.text <= _LONGEST_CODE else ""
            found.add(place, f"has {len(value)} characters; at most {meant.text} are allowed{code}")
    elif isinstance(value, list):
        _list(cast("list[object]", value), shape, place, found)
    elif isinstance(value, dict):
        _object(cast("dict[str, object]", value), shape, place, found)


def _list(value: list[object], shape: Shape, place: Place, found: _Problems) -> None:
    if shape.is_anything:
        _anything(value, place, found)
    elif shape.entries is not None and len(value) > shape.entries:
        found.add(place, f"has {len(value)} entries; at most {shape.entries} are allowed")
    elif shape.each is not None:
        for index, entry in enumerate(value):
            if entry.__class__ in (str, list, dict):
                _look(entry, shape.each, (*place, index), found)
    elif len(value) > MOST_INSIDE:  # of few the model says what stands there in their place
        found.add(place, "must not be a list")


def _object(value: Mapping[str, object], shape: Shape, place: Place, found: _Problems) -> None:
    if shape.is_anything:
        _anything(value, place, found)
    elif shape.fields is not None:
        unknown = value.keys() - shape.fields.keys() if len(value) > MOST_PROBLEMS else ()
        if len(unknown) > MOST_PROBLEMS:
            for name in islice((name for name in value if name in unknown), MOST_PROBLEMS):
                found.add((*place, name), "", "unknown")
            found.more += len(unknown) - MOST_PROBLEMS
            return
        for name, inside in shape.fields.items():
            if value.get(name).__class__ in (str, list, dict):
                _look(value[name], inside, (*place, name), found)
    elif shape.most_keys is not None and len(value) > shape.most_keys:
        found.add(place, f"has {len(value)} entries; at most {shape.most_keys} are allowed")
    elif shape.value is not None:
        if value and max(map(len, value)) > LONGEST_KEY:
            found.add(place, f"holds a name of more than {LONGEST_KEY} characters")
            return
        if shape.value.is_anything and (
            _CONTAINERS.isdisjoint(map(type, value.values()))
            or _too_much([one for one in value.values() if one.__class__ in _CONTAINERS]) is None
        ):
            return  # all of them at once, since a row has many; one by one only where a place has to be named
        looked_at = _CONTAINERS if shape.value.is_anything else (str, list, dict)
        for name in [name for name, entry in value.items() if entry.__class__ in looked_at]:
            _look(value[name], shape.value, (*place, name), found)
    elif len(value) > MOST_INSIDE:
        found.add(place, "must not be an object")


def _anything(value: object, place: Place, found: _Problems) -> None:
    if (message := _too_much([value])) is not None:
        found.add(place, message)


def _too_much(level: Sequence[Any]) -> str | None:
    """What is wrong with lists and objects of which nothing is declared: goes through all of them, level by level."""
    for _ in range(MOST_DEEP):
        if not level:
            return None
        if max(map(len, level)) > MOST_INSIDE:
            return f"holds a list or an object of more than {MOST_INSIDE} entries"
        level = [
            entry
            for one in cast("Sequence[list[object] | dict[str, object]]", level)
            for entry in (one.values() if isinstance(one, dict) else one)
            if entry.__class__ in _CONTAINERS
        ]
    return f"is nested more than {MOST_DEEP} levels deep" if level else None
