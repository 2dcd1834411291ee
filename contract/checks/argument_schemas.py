"""The part of JSON Schema in which a tool says what arguments it takes, and the check of arguments against it.

It is what models are good at and what can be checked in bounded time: types, lists of choices, sizes. Anything else,
such as `pattern` or `$ref`, is refused when it is set, so that nobody believes in a check that is not made.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from typing import Any, cast

MOST_PARAMETERS = 30
_SHOWN = 60
_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}
_WORDS: Mapping[str, str] = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
}
_FOR_ALL = frozenset({"type", "title", "description", "enum", "const", "default", "examples"})
_FOR: Mapping[str, frozenset[str]] = {
    "string": frozenset({"minLength", "maxLength", "format"}),
    "integer": frozenset({"minimum", "maximum"}),
    "number": frozenset({"minimum", "maximum"}),
    "boolean": frozenset(),
    "array": frozenset({"items", "minItems", "maxItems"}),
    "object": frozenset({"properties", "required", "additionalProperties"}),
}
_TEXTS, _LISTS = frozenset({"title", "description", "format"}), frozenset({"enum", "examples"})
_NUMBERS = frozenset({"minLength", "maxLength", "minimum", "maximum", "minItems", "maxItems"})
_Schema = Mapping[str, Any]


def checked_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema itself. Raises ValueError, in words that follow its place, if it is none of an object of arguments."""
    if schema and schema.get("type") != "object":
        raise ValueError('must be the JSON Schema of an object: {"type": "object", "properties": {…}}')
    _check(schema or {"type": "object"}, "")
    if len(properties_of(schema)) > MOST_PARAMETERS:
        raise ValueError(f"must have at most {MOST_PARAMETERS} properties")
    return schema


def properties_of(schema: _Schema) -> Mapping[str, _Schema]:
    """The schemas of the arguments by name."""
    return cast("Mapping[str, _Schema]", schema.get("properties", {}))


def required_of(schema: _Schema) -> Sequence[str]:
    """The arguments that have to be given."""
    return cast("Sequence[str]", schema.get("required", ()))


def _check(schema: object, place: str) -> None:
    where = f"in {place}: " if place else ""
    if not isinstance(schema, dict):
        raise ValueError(f"{where}must be an object of JSON Schema")
    found = cast("dict[str, Any]", schema)
    kind = found.get("type")
    if not isinstance(kind, str) or kind not in _TYPES:
        raise ValueError(f"{where}type must be one of {', '.join(_TYPES)}")
    for word, value in found.items():
        if word not in _FOR_ALL and word not in _FOR[kind]:
            known = ", ".join(sorted(_FOR_ALL | _FOR[kind]))
            raise ValueError(f"{where}{word[:_SHOWN]} is not understood for {kind}; there are {known}")
        _check_word(word, value, where)
    for name, inner in cast("Mapping[str, object]", found.get("properties", {})).items():
        if not name or len(name) > _SHOWN or not name.isprintable():
            raise ValueError(f"{where}the name of a property must have 1 to {_SHOWN} visible characters")
        _check(inner, f"{place}.{name}" if place else name)
    if "items" in found:
        _check(found["items"], f"{place} items" if place else "items")
    for name in found.get("required", ()):
        if name not in found.get("properties", {}):
            raise ValueError(f"{where}required names {str(name)[:_SHOWN]}, which is no property")


def _check_word(word: str, value: object, where: str) -> None:
    if word in _TEXTS:
        fits = isinstance(value, str)
    elif word in _LISTS:
        fits = isinstance(value, list) and bool(cast("list[object]", value))
    elif word in _NUMBERS:
        fits = isinstance(value, int | float) and not isinstance(value, bool)
    elif word == "required":
        fits = isinstance(value, list) and all(isinstance(name, str) for name in cast("list[object]", value))
    elif word == "properties":
        fits = isinstance(value, dict)
    elif word == "additionalProperties":
        fits = isinstance(value, bool)
    else:
        fits = True
    if not fits:
        raise ValueError(f"{where}{word} has a value that JSON Schema does not allow")


def problems_of(arguments: object, schema: _Schema) -> list[str]:
    """What is wrong with arguments, each in a sentence that names the argument; none if they fit."""
    found = list(_problems(arguments, schema or {"type": "object"}, ""))
    return [*found, *_no_numbers(arguments, "")][:10]


def _no_numbers(value: object, place: str) -> Iterator[str]:
    """NaN and Infinity are read as numbers, lie within any bounds or none, and JSON cannot say them (RFC 8259, 6)."""
    if isinstance(value, float) and not isfinite(value):
        yield f"{place or 'the arguments'} must be a number, not {value}."
    elif isinstance(value, list):
        for index, one in enumerate(cast("list[object]", value)):
            yield from _no_numbers(one, f"{place}[{index}]")
    elif isinstance(value, dict):
        for name, one in cast("dict[str, object]", value).items():
            yield from _no_numbers(one, _inside(place, name[:_SHOWN]))


def _problems(value: object, schema: _Schema, place: str) -> Iterator[str]:
    name, kind = place or "the arguments", cast("str", schema["type"])
    if not isinstance(value, _TYPES[kind]) or (isinstance(value, bool) and kind != "boolean"):
        yield f"{name} must be {_WORDS[kind]}."
        return
    if "const" in schema and value != schema["const"]:
        yield f"{name} must be {schema['const']!r}."
    if "enum" in schema and value not in schema["enum"]:
        yield f"{name} must be one of {', '.join(str(one)[:_SHOWN] for one in schema['enum'][:20])}."
    if isinstance(value, str | list):
        yield from _size_problems(len(cast("Sequence[object]", value)), schema, name, kind)
    if kind in ("integer", "number"):
        number = cast("float", value)
        if "minimum" in schema and number < schema["minimum"]:
            yield f"{name} must be at least {schema['minimum']}."
        if "maximum" in schema and number > schema["maximum"]:
            yield f"{name} must be at most {schema['maximum']}."
    if isinstance(value, list) and "items" in schema:
        for index, one in enumerate(cast("list[object]", value)):
            yield from _problems(one, schema["items"], f"{name}[{index}]")
    if isinstance(value, dict):
        yield from _object_problems(cast("dict[str, object]", value), schema, place)


def _size_problems(size: int, schema: _Schema, name: str, kind: str) -> Iterator[str]:
    least, most, unit = ("minLength", "maxLength", "characters")
    if kind == "array":
        least, most, unit = ("minItems", "maxItems", "entries")
    if least in schema and size < schema[least]:
        yield f"{name} must have at least {schema[least]} {unit}."
    if most in schema and size > schema[most]:
        yield f"{name} must have at most {schema[most]} {unit}."


def _object_problems(value: Mapping[str, object], schema: _Schema, place: str) -> Iterator[str]:
    known = properties_of(schema)
    for name in required_of(schema):
        if name not in value:
            yield f"{_inside(place, name)} is missing."
    for name, one in value.items():
        if name in known:
            yield from _problems(one, known[name], _inside(place, name))
        elif not schema.get("additionalProperties"):
            there = f"there are {', '.join(known)}" if known else "there are none"
            yield f"{_inside(place, name[:_SHOWN])} is no argument; {there}."


def _inside(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name
