"""Parameters of operations; those that several operations share become components."""

import re
from collections.abc import Iterable
from typing import Any

import orjson

from callwright.contract.declaration.betas import BETA_FEATURES
from callwright.contract.declaration.operation import AnyOperation
from callwright.service.platform.clock.clock import HOUR
from callwright.service.rest.documentation.openapi.headers import Json
from callwright.service.rest.documentation.openapi.values import example_value
from callwright.service.rest.idempotency import HEADER as IDEMPOTENCY_KEY
from callwright.service.rest.idempotency import LIFETIME_MS

_KEPT = re.compile(r"[^A-Za-z0-9._-]+")


def parameters(operation: AnyOperation, schema: Json) -> list[Json]:
    """What an operation takes in its path, its query and its headers."""
    found = [
        _parameter(operation, name, dict(schema["properties"][name]))
        for name in operation.takes.model_fields
        if operation.place_of(name) != "body"
    ]
    if operation.method == "POST":
        found.append(_header(IDEMPOTENCY_KEY, _KEY_WORDS, "reminders-2026-11-24", _KEY_SCHEMA))
    if operation.has_parts:
        found += _MEDIA
    found.append(_header("X-Service-Beta", _BETA_WORDS, _BETA_EXAMPLE, _BETA_SCHEMA))
    return found


_KEY_WORDS = (
    f"Any text of your own that names this request. The same request with the same key within {LIFETIME_MS // HOUR} "
    "hours is answered with the first answer and does nothing twice; only successes are kept. 1 to 255 visible ASCII "
    "characters."
)
_KEY_SCHEMA: Json = {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]{1,255}$"}
_BETA_EXAMPLE = f"enable={next(iter(BETA_FEATURES), 'feature_name')}"
_BETA_WORDS = (
    "Switches beta features on for this request, several separated by commas. They may change without notice. Known:\n"
    + "\n".join(f"- `{feature.name}`: {feature.does}" for feature in BETA_FEATURES.values())
)
_BETA_SCHEMA: Json = {
    "type": "string",
    "pattern": f"^enable=({'|'.join(BETA_FEATURES)})(,({'|'.join(BETA_FEATURES)})){{0,19}}$",
}


def _header(name: str, description: str, example: str, schema: Json) -> Json:
    return {
        "name": name,
        "in": "header",
        "required": False,
        "description": description,
        "schema": schema,
        "example": example,
    }


_MEDIA = [
    _header("Range", "The part that is wanted (RFC 9110); the whole file without.", "bytes=0-1023", {"type": "string"}),
    _header(
        "If-None-Match",
        "An `ETag` that you have: if the file is still the same one, the answer is 304.",
        '"5d41402a-mp3-18"',
        {"type": "string"},
    ),
    _header(
        "If-Range",
        "An `ETag` that you have: `Range` counts only if the file is still the same one.",
        '"5d41402a-mp3-18"',
        {"type": "string"},
    ),
]


def _parameter(operation: AnyOperation, name: str, schema: Json) -> Json:
    shape = without_null(schema)
    entry: Json = {
        "name": operation.wire_name(name),
        "in": operation.place_of(name),
        "required": operation.place_of(name) == "path" or operation.takes.model_fields[name].is_required(),
        "schema": shape,
    }
    if "description" in shape:
        entry["description"] = shape.pop("description")
    if name == "sort":
        entry["description"] += f" Fields: {', '.join(operation.sorts)}."
    if shape.get("type") == "array":
        entry |= {"style": "form", "explode": False}
    example = example_value(operation, name, shape)
    if example is not None:
        entry["example"] = example
    return entry


def without_null(schema: Json) -> Json:
    """A parameter that is left out is absent; there is no null in a query."""
    choices = schema.get("anyOf")
    if choices is None:
        return {key: value for key, value in schema.items() if key != "title"}
    kept = [choice for choice in choices if choice != {"type": "null"}]
    merged = {key: value for key, value in schema.items() if key not in ("anyOf", "title", "default")}
    return {**merged, **kept[0]} if len(kept) == 1 else {**merged, "anyOf": kept}


def shared(taken: Iterable[tuple[AnyOperation, list[Json]]]) -> Json:
    """Makes components of the parameters that several operations share, and replaces them by references.

    A component has the parameter's name. If several have one name, all except the one that is used most often have
    the noun before it.
    """
    places: dict[bytes, list[tuple[AnyOperation, list[Json], int]]] = {}
    for operation, entries in taken:
        for index, entry in enumerate(entries):
            text = orjson.dumps(entry, option=orjson.OPT_SORT_KEYS)
            places.setdefault(text, []).append((operation, entries, index))
    components: Json = {}
    for found in sorted(places.values(), key=len, reverse=True):
        operation, entries, index = found[0]
        entry = entries[index]
        plain = _KEPT.sub(".", entry["name"]).strip(".")
        name = f"{operation.noun}.{plain}" if plain in components else plain
        if len(found) > 1 and name not in components:
            components[name] = entry
            for _, others, at in found:
                others[at] = {"$ref": f"#/components/parameters/{name}"}
    return dict(sorted(components.items()))


def request_body(schema: Json, example: Any) -> Json:
    content: Json = {"schema": schema}
    if example is not None:
        content["example"] = example
    return {
        "description": "An `org_id` in it has no effect.",
        "required": bool(schema.get("required")),
        "content": {"application/json": content},
    }
