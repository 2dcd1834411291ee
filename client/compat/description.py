"""Reads a service's OpenAPI document: which operations it names, and which body fields it takes beyond the contract's.

The document is not trusted: references that cannot be followed are left out, and everything has a limit.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

from callwright.contract.declaration.operation import OPERATIONS, AnyOperation

Json = dict[str, Any]

MOST_FIELDS = 40
"""The most extra fields of one operation, and the most fields of one object inside them."""
_DEPTH = 5
_MOST_NODES = 300
"""The most schema nodes read for one operation. Further nodes allow any value."""
_MOST_ENTRIES = 60
_MOST_HOPS = 20
_LONGEST_WORDS = 300
_FIELD = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
_VERSIONED = re.compile(r"(?:/[\w.-]+)*/v[0-9]+")
_NUMBERS = ("minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems")
_TYPES = ("string", "integer", "number", "boolean", "array", "object", "null")
_SCALAR = (str, int, float, bool)


def routes(document: Mapping[str, Any], *, base_path: str = "") -> dict[str, str]:
    """The contract's operations in the document, each with the first segment of its path as the document spells it.

    The document's paths may begin with a version prefix or with the path of the base URL.
    """
    found: dict[str, str] = {}
    for path, item in _dict(document.get("paths")).items():
        methods = followed(document, item)
        for name, operation in OPERATIONS.items():
            if isinstance(methods.get(operation.method.lower()), dict):
                spelling = _spelling(path, operation, base_path)
                if spelling is not None:
                    found.setdefault(name, spelling)
    return found


def extra_properties(document: Mapping[str, Any], operation: AnyOperation, *, base_path: str = "") -> dict[str, Json]:
    """Fields of the operation's body that the document declares and the contract does not, as JSON Schemas.

    References are inlined. What lies deeper than five levels may have any value.
    """
    extra: dict[str, Json] = {}
    if operation.method == "GET":
        return extra
    known = {name.replace("-", "_") for name in _known_names(operation)}
    schemas = _Schemas(document)
    for path, item in _dict(document.get("paths")).items():
        method = followed(document, item).get(operation.method.lower())
        if not isinstance(method, dict) or _spelling(path, operation, base_path) is None:
            continue
        for body in schemas.bodies(cast("Json", method)):
            required = _list(body.get("required"))
            for name, schema in _dict(body.get("properties")).items():
                new = name not in extra and name.replace("-", "_") not in known and _FIELD.fullmatch(name)
                if new and len(extra) < MOST_FIELDS and followed(document, schema).get("readOnly") is not True:
                    shown = schemas.shown(schema, _DEPTH)
                    said = _words(shown.get("description"), needed=name in required)
                    extra[name] = {**shown, "description": said}
    return extra


def followed(document: Mapping[str, Any], node: object) -> Json:
    """The object itself, or the target of its local references; empty if a reference has no target."""
    found = _dict(node)
    for _ in range(_MOST_HOPS):
        reference = found.get("$ref")
        if reference is None:
            return found
        if not isinstance(reference, str) or not reference.startswith("#/"):
            return {}
        target: object = document
        for step in reference[2:].split("/"):
            target = _dict(target).get(step.replace("~1", "/").replace("~0", "~"))
        beside = {word: value for word, value in found.items() if word != "$ref"}
        found = {**_dict(target), **beside}
    return {}


class _Schemas:
    """Reads schemas of one document, up to a number of nodes."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._document, self._left = document, _MOST_NODES

    def bodies(self, method: Json) -> Iterator[Json]:
        """The schemas of a JSON body: its own, and those that it combines."""
        content = _dict(followed(self._document, method.get("requestBody")).get("content"))
        for media_type, entry in content.items():
            if media_type.partition(";")[0].strip().lower() in ("application/json", "*/*"):
                yield from self._pieces(_dict(entry).get("schema"), _DEPTH, ("allOf", "anyOf", "oneOf"))

    def shown(self, schema: object, depth: int) -> Json:
        """A schema without references."""
        self._left -= 1
        if self._left < 0:
            return {}
        found = followed(self._document, schema)
        shown = _facts(found)
        return shown | self._inside(found, depth - 1) if depth > 0 else shown

    def _inside(self, found: Json, depth: int) -> Json:
        inside: Json = {}
        fields: Json = {}
        for piece in self._pieces(found, depth + 1, ("allOf",)):
            fields |= _dict(piece.get("properties"))
        if fields:
            inside["type"] = "object"
            inside["properties"] = {
                name: self.shown(fields[name], depth) or True for name in list(fields)[:MOST_FIELDS]
            }
        if "items" in found:
            inside["items"] = self.shown(found["items"], depth) or True
        branches = [*_list(found.get("anyOf")), *_list(found.get("oneOf"))][:_MOST_ENTRIES]
        if branches:
            inside["anyOf"] = [self.shown(branch, depth) or True for branch in branches]
        return inside

    def _pieces(self, schema: object, depth: int, words: tuple[str, ...]) -> Iterator[Json]:
        self._left -= 1
        found = followed(self._document, schema)
        if not found or depth == 0 or self._left < 0:
            return
        yield found
        for word in words:
            for part in _list(found.get(word))[:_MOST_ENTRIES]:
                yield from self._pieces(part, depth - 1, words)


def _facts(found: Json) -> Json:
    """The keywords about a value itself: type, description, choices, limits, default."""
    facts: Json = {}
    kind = found.get("type")
    kinds = [entry for entry in (cast("list[Any]", kind) if isinstance(kind, list) else [kind]) if entry in _TYPES]
    if found.get("nullable") is True and kinds:
        kinds.append("null")
    if kinds:
        facts["type"] = kinds[0] if len(kinds) == 1 else list(dict.fromkeys(kinds))
    if isinstance(found.get("description"), str):
        facts["description"] = found["description"][:_LONGEST_WORDS]
    choices = _list(found.get("enum"))
    if choices and len(choices) <= _MOST_ENTRIES and all(isinstance(entry, _SCALAR) for entry in choices):
        facts["enum"] = choices
    facts |= {word: found[word] for word in _NUMBERS if isinstance(found.get(word), (int, float))}
    if isinstance(found.get("default"), _SCALAR):
        facts["default"] = found["default"]
    return facts


def _known_names(operation: AnyOperation) -> Iterator[str]:
    for name, field in operation.takes.model_fields.items():
        yield name
        if field.alias:
            yield field.alias


def _words(description: object, *, needed: bool) -> str:
    said = description.strip() if isinstance(description, str) else ""
    return " ".join(part for part in (said, "Only this service has it.", "Required." if needed else "") if part)


def _spelling(path: str, operation: AnyOperation, base_path: str) -> str | None:
    """The first segment of `path` where it is the operation's path; None where it is another one."""
    there, own = path.strip("/").split("/"), operation.path.strip("/").split("/")
    if len(there) < len(own) or [_plain(part) for part in there[-len(own) :]] != [_plain(part) for part in own]:
        return None
    prefix = "".join(f"/{part}" for part in there[: -len(own)])
    if prefix in ("", base_path) or _VERSIONED.fullmatch(prefix):
        return there[-len(own)]
    return None


def _plain(segment: str) -> str:
    return "{}" if segment.startswith("{") and segment.endswith("}") else segment.replace("-", "_")


def _dict(value: object) -> Json:
    return cast("Json", value) if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []
