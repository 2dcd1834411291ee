"""JSON Schema of a contract model in the compact form that tools advertise.

References are inlined, titles and examples dropped, and "X or null" becomes X: absent says the same with fewer words.
"""

from collections.abc import Mapping
from typing import Any, cast

from pydantic import BaseModel

JsonSchema = dict[str, Any]

_DROPPED = frozenset({"title", "examples", "$defs"})
_BOUNDS = frozenset(
    {"format", "pattern", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "maxProperties"}
)
_DROPPED_FROM_ANSWERS = _DROPPED | _BOUNDS | {"description", "default"}
_NULL: JsonSchema = {"type": "null"}


def input_schema(model: type[BaseModel], *, words: Mapping[str, str]) -> JsonSchema:
    """The arguments that `model` takes; `words` replace the descriptions of single ones. Unknown ones are refused."""
    raw = model.model_json_schema(mode="validation")
    schema = _Compact(raw, answers=False).of(raw)
    schema.pop("description", None)
    properties = cast("dict[str, JsonSchema]", schema.setdefault("properties", {}))
    for name, text in words.items():
        properties[name]["description"] = text
    schema["additionalProperties"] = False
    return schema


def output_schema(model: type[BaseModel], *, brief: bool) -> JsonSchema:
    """What an answer holds once its nulls are left out: a field that can be null is therefore not required.

    Bounds are left out, and so is the inside of a piece that a caller sends, for example a retry policy: the tool that
    takes it describes it. A `brief` one names the fields of the resource, but not what is inside of them.
    """
    raw = model.model_json_schema(mode="serialization")
    schema = _Compact(raw, answers=True).of(raw)
    if brief:
        entry = schema["properties"]["data"]["items"] if "pagination" in schema["properties"] else schema
        entry["properties"] = {name: {"type": sub["type"]} for name, sub in entry["properties"].items()}
    return schema


class _Compact:
    def __init__(self, root: JsonSchema, *, answers: bool) -> None:
        self._defs = cast("dict[str, JsonSchema]", root.get("$defs", {}))
        self._answers = answers
        self._dropped = _DROPPED_FROM_ANSWERS if answers else _DROPPED

    def of(self, node: JsonSchema) -> JsonSchema:
        node = self._resolved(node)
        if self._answers and node.get("additionalProperties") is False:
            return {"type": "object"}
        found: JsonSchema = {}
        for key, value in node.items():
            if key in self._dropped or (key == "default" and (value is None or isinstance(value, dict))):
                continue
            if key == "properties":
                found[key] = {name: self.of(sub) for name, sub in value.items()}
            elif key in ("items", "additionalProperties") and isinstance(value, dict):
                # Some readers of schemas want `true` for "anything", not an empty schema.
                found[key] = self.of(cast("JsonSchema", value)) or True
            elif key in ("anyOf", "oneOf", "allOf", "prefixItems"):
                found[key] = [self.of(sub) for sub in value]
            else:
                found[key] = value
        if self._answers:
            self._loosen(node, found)
        return found

    def _loosen(self, node: JsonSchema, found: JsonSchema) -> None:
        """Answers may gain fields, and lose those that are null."""
        if found.get("additionalProperties") is True:
            del found["additionalProperties"]
        required = [name for name in found.pop("required", []) if not self._nullable(node["properties"][name])]
        if required:
            found["required"] = required

    def _resolved(self, node: JsonSchema) -> JsonSchema:
        """The node with its reference inlined and its null branch removed; words beside them win over words inside."""
        while True:
            branches = cast("list[JsonSchema]", node.get("anyOf", []))
            kept = [branch for branch in branches if branch != _NULL]
            if "$ref" in node:
                node = {**self._target(node), **{key: value for key, value in node.items() if key != "$ref"}}
            elif len(branches) > 1 and len(kept) == 1:
                node = {**kept[0], **{key: value for key, value in node.items() if key != "anyOf"}}
            else:
                return node

    def _nullable(self, node: JsonSchema) -> bool:
        while "$ref" in node:
            node = self._target(node)
        return _NULL in node.get("anyOf", []) or node == _NULL

    def _target(self, node: JsonSchema) -> JsonSchema:
        return self._defs[str(node["$ref"]).rsplit("/", 1)[-1]]
