"""JSON Schema of a contract model in the compact form that tools advertise.

References are inlined, titles and examples are dropped, and "X or null" becomes X, because absent means the same. Only
in changes null has a meaning of its own, and is kept where it is allowed. An amount to spend is a text, such as 25.00.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, cast

from pydantic import BaseModel

from callwright.contract.declaration.changes import Changes, clears
from callwright.contract.declaration.field_types import Spend

JsonSchema = dict[str, Any]

_DROPPED = frozenset({"title", "examples", "$defs"})
_BOUNDS = frozenset(
    {"minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "maxProperties", "pattern"}
)
_DROPPED_FROM_INPUTS = _DROPPED | {"pattern", "minLength", "maxLength", "minItems", "maxItems", "maxProperties"}
"""Bounds of texts are in the descriptions where a model can keep to them. All of them are checked."""
_DROPPED_FROM_ANSWERS = _DROPPED | _BOUNDS | {"description", "default", "format"}
_NULL: JsonSchema = {"type": "null"}
_SAID = ("description", "default")
"""Keywords that are kept beside `anyOf`."""


def input_schema(
    model: type[BaseModel],
    *,
    descriptions: Mapping[str, str],
    offered: Collection[str] | None = None,
    collapsed: Collection[str] = (),
) -> JsonSchema:
    """The schema of the arguments that `model` takes, only those of `offered`.

    `descriptions` replaces those of the model, by name or by a path with dots. Arguments in `collapsed` have only a
    type and a description. Unknown arguments are refused.
    """
    raw = model.model_json_schema(mode="validation")
    schema = _Compact(raw, answers=False).of(raw)
    schema.pop("description", None)
    properties = cast("dict[str, JsonSchema]", schema.setdefault("properties", {}))
    for path, text in descriptions.items():
        _at(schema, path)["description"] = text
    for name in collapsed:
        properties[name] = _collapsed(properties[name])
    if issubclass(model, Changes):
        for name, field in model.model_fields.items():
            if clears(field):
                properties[name] = _or_null(properties[name])
    if offered is not None:
        schema["properties"] = {name: sub for name, sub in properties.items() if name in offered}
    schema["additionalProperties"] = False
    return schema


def _or_null(schema: JsonSchema) -> JsonSchema:
    """Allows null by `anyOf`. A list of types would be shorter, but some clients cannot read one."""
    said = {key: value for key, value in schema.items() if key in _SAID}
    return {"anyOf": [{key: value for key, value in schema.items() if key not in _SAID}, _NULL], **said}


def _at(schema: JsonSchema, path: str) -> JsonSchema:
    for name in path.split("."):
        schema = schema.get("items", schema)["properties"][name]
    return schema


def _collapsed(schema: JsonSchema) -> JsonSchema:
    found = {key: value for key, value in schema.items() if key in ("type", "format", "enum", "description")}
    inside = schema.get("items")
    if isinstance(inside, dict) and "oneOf" in inside:
        return {**found, "items": _of_any_kind(cast("list[JsonSchema]", inside["oneOf"]))}
    return {**found, **_type_of(schema)}


def _type_of(schema: JsonSchema) -> JsonSchema:
    """The type alone, of a list with that of its entries."""
    found = {"type": schema["type"]} if "type" in schema else {}
    inside = schema.get("items")
    return {**found, "items": {"type": inside["type"]}} if isinstance(inside, dict) and "type" in inside else found


def _of_any_kind(kinds: Sequence[JsonSchema]) -> JsonSchema:
    """An object of any of several kinds: it is said which there are. A description of the list has their fields."""
    fields = [kind["properties"] for kind in kinds]
    tells = next(name for name in fields[0] if all("const" in one.get(name, {}) for one in fields))
    return {"type": "object", "description": f"Its {tells}: {', '.join(one[tells]['const'] for one in fields)}."}


def output_schema(model: type[BaseModel], *, brief: bool, omitted: Collection[str] = ()) -> JsonSchema:
    """The schema of an answer. Nulls are left out, so no field is required.

    Bounds are left out, and so are the fields of objects that a caller sends, for example a retry policy: the tool that
    takes one describes it. A `brief` schema names the fields of the resource, but not the fields inside them. Fields in
    `omitted` are left out.
    """
    raw = model.model_json_schema(mode="serialization")
    schema = _Compact(raw, answers=True).of(raw)
    if brief:
        schema["properties"] = {name: _outside(sub) for name, sub in schema["properties"].items()}
    if omitted:
        schema["properties"] = {name: sub for name, sub in schema["properties"].items() if name not in omitted}
        schema["description"] = "And more."
    return schema


def list_schema(entry: type[BaseModel], *, default_fields: Collection[str]) -> JsonSchema:
    """The schema of a list's page. Entries hold `default_fields`, which are named alone: a list has a dozen of them."""
    known = output_schema(entry, brief=True)["properties"]
    named = ", ".join(name for name in default_fields if name in known)
    return {
        "type": "object",
        "properties": {
            "data": {"type": "array", "items": {"type": "object", "description": f"{named}."}},
        },
    }


def _outside(schema: JsonSchema) -> JsonSchema:
    return {"type": schema["type"]} if "type" in schema else schema


class _Compact:
    def __init__(self, root: JsonSchema, *, answers: bool) -> None:
        self._defs = cast("dict[str, JsonSchema]", root.get("$defs", {}))
        self._answers = answers
        self._dropped = _DROPPED_FROM_ANSWERS if answers else _DROPPED_FROM_INPUTS

    def of(self, node: JsonSchema) -> JsonSchema:
        node = self._resolved(node)
        if not self._answers and node.get("title") == Spend.__name__:
            node = {"type": "string", **{key: node[key] for key in _SAID if key in node}}
        if self._answers and node.get("additionalProperties") is False:
            return {"type": "object"}
        found: JsonSchema = {}
        for key, value in node.items():
            if key in self._dropped or (key == "default" and (not value or isinstance(value, dict))):
                continue
            if (key == "additionalProperties" and value is False) or (key == "minimum" and value in (0, 1)):
                continue  # both are implied; fields that are not among the properties are refused by name
            if key == "properties":
                found[key] = {name: self.of(sub) for name, sub in value.items()}
            elif key in ("items", "additionalProperties") and isinstance(value, dict):
                # Some schema parsers want `true` for "anything", not an empty schema.
                found[key] = self.of(cast("JsonSchema", value)) or True
            elif key in ("anyOf", "oneOf", "allOf", "prefixItems"):
                found[key] = [self.of(sub) for sub in value]
            else:
                found[key] = value
        if self._answers:
            # Any field may be null and is then left out, and entries of lists hold only the requested fields.
            found.pop("required", None)
            if found.get("additionalProperties") is True:
                del found["additionalProperties"]
        return found

    def _resolved(self, node: JsonSchema) -> JsonSchema:
        """The node with its reference inlined and its null branch removed. Keywords beside them override inner ones."""
        while True:
            branches = cast("list[JsonSchema]", node.get("anyOf", []))
            kept = [branch for branch in branches if branch != _NULL]
            if "$ref" in node:
                node = {**self._target(node), **{key: value for key, value in node.items() if key != "$ref"}}
            elif len(branches) > 1 and len(kept) == 1:
                node = {**kept[0], **{key: value for key, value in node.items() if key != "anyOf"}}
            else:
                return node

    def _target(self, node: JsonSchema) -> JsonSchema:
        return self._defs[str(node["$ref"]).rsplit("/", 1)[-1]]
