"""The OpenAPI 3.1 description, made from the contract."""

from functools import cache
from importlib.metadata import version
from typing import Any

import orjson
from pydantic.json_schema import GenerateJsonSchema, models_json_schema

from callwright.contract.events import EVENT_TYPES, EventEnvelope
from callwright.contract.operation import AnyOperation
from callwright.contract.pagination import Pagination
from callwright.contract.problems import (
    EVERYWHERE,
    IDEMPOTENCY_KEY_REUSED,
    INVALID_CURSOR,
    UNSUPPORTED_MEDIA_TYPE,
    ProblemCode,
)
from callwright.contract.surface import OPERATIONS

from .idempotency import HEADER
from .routes import PREFIX

_REF = "#/components/schemas/{model}"


@cache
def document() -> bytes:
    """The description as JSON, the same bytes at every call."""
    return orjson.dumps(describe(), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def describe() -> dict[str, Any]:
    """The description as a dictionary."""
    schemas, inputs, outputs = _schemas()
    paths: dict[str, dict[str, Any]] = {}
    for operation in OPERATIONS.values():
        entry = _operation(operation, inputs[operation.name], outputs)
        paths.setdefault(PREFIX + operation.path, {})[operation.method.lower()] = entry
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Callwright",
            "version": version("callwright"),
            "description": "Voice agents, campaigns, phone numbers and calls.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/", "description": "This service."}],
        "security": [{"apiKey": []}],
        "paths": paths,
        "webhooks": {name: _webhook(name) for name in EVENT_TYPES},
        "components": {
            "schemas": dict(sorted(schemas.items())),
            "securitySchemes": {
                "apiKey": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "An API key: svc_live_ and 48 hexadecimal digits.",
                }
            },
        },
    }


def _schemas() -> tuple[dict[str, Any], dict[str, Any], dict[type, Any]]:
    """Component schemas, each operation's input schema, and a reference for each model that is answered."""
    answered: dict[type, Any] = {}
    models: list[tuple[Any, Any]] = [(Pagination, "serialization"), (EventEnvelope, "serialization")]
    for operation in OPERATIONS.values():
        models.append((operation.takes, "validation"))
        if operation.item is not None:
            models.append((operation.item, "serialization"))
    models.extend((event.data, "serialization") for event in EVENT_TYPES.values())
    keys, definitions = models_json_schema(
        list(dict.fromkeys(models)), ref_template=_REF, schema_generator=GenerateJsonSchema
    )
    schemas: dict[str, Any] = definitions["$defs"]
    inputs: dict[str, Any] = {}
    for operation in OPERATIONS.values():
        name = keys[(operation.takes, "validation")]["$ref"].rsplit("/", 1)[1]
        inputs[operation.name] = schemas[name]
    for model, mode in models:
        if mode == "serialization":
            answered[model] = {"$ref": keys[(model, mode)]["$ref"]}
    for operation in OPERATIONS.values():
        schemas.pop(operation.takes.__name__, None)
    schemas["Problem"] = _PROBLEM
    schemas["FlatProblem"] = _FLAT_PROBLEM
    return schemas, inputs, answered


_PROBLEM: dict[str, Any] = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["type", "code", "message", "request_id"],
            "properties": {
                "type": {"type": "string"},
                "code": {"type": "string"},
                "message": {"type": "string"},
                "field": {"type": "string"},
                "errors": {"type": "array", "items": {"type": "object"}},
                "request_id": {"type": "string"},
            },
        }
    },
}
_FLAT_PROBLEM: dict[str, Any] = {
    "type": "object",
    "required": ["error", "message", "request_id"],
    "properties": {
        "error": {"type": "string"},
        "message": {"type": "string"},
        "request_id": {"type": "string"},
    },
}


def _operation(operation: AnyOperation, schema: dict[str, Any], outputs: dict[type, Any]) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "operationId": operation.name,
        "summary": operation.summary,
        "tags": [operation.noun],
        "parameters": _parameters(operation, schema),
        "responses": _responses(operation, outputs),
    }
    if operation.counting:
        entry["description"] = operation.counting
    if operation.has_body:
        entry["requestBody"] = _body(operation, schema)
    return entry


def _parameters(operation: AnyOperation, schema: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for name, field in operation.takes.model_fields.items():
        place = operation.place_of(name)
        if place == "body":
            continue
        shape = _without_null(dict(schema["properties"][name]))
        entry: dict[str, Any] = {
            "name": operation.wire_name(name),
            "in": place,
            "required": place == "path" or field.is_required(),
            "schema": shape,
        }
        if "description" in shape:
            entry["description"] = shape.pop("description")
        if shape.get("type") == "array":
            entry |= {"style": "form", "explode": False}
        found.append(entry)
    if operation.method == "POST":
        found.append(
            {
                "name": HEADER,
                "in": "header",
                "required": False,
                "description": "The same key within 24 hours gives the first answer again and does nothing twice.",
                "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]{1,255}$"},
            }
        )
    return found


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """A parameter that is left out is absent; there is no null in a query."""
    choices = schema.get("anyOf")
    if choices is None:
        return {key: value for key, value in schema.items() if key != "title"}
    kept = [choice for choice in choices if choice != {"type": "null"}]
    merged = {key: value for key, value in schema.items() if key not in ("anyOf", "title", "default")}
    return {**merged, **kept[0]} if len(kept) == 1 else {**merged, "anyOf": kept}


def _body(operation: AnyOperation, schema: dict[str, Any]) -> dict[str, Any]:
    properties = {name: shape for name, shape in schema["properties"].items() if operation.place_of(name) == "body"}
    required = [name for name in schema.get("required", ()) if name in properties]
    body: dict[str, Any] = {"type": "object", "properties": properties, "additionalProperties": False}
    if required:
        body["required"] = required
    return {"required": bool(required), "content": {"application/json": {"schema": body}}}


def _responses(operation: AnyOperation, outputs: dict[type, Any]) -> dict[str, Any]:
    responses: dict[str, Any] = {str(operation.status): _success(operation, outputs)}
    problems = [*operation.problems, *EVERYWHERE]
    if operation.shape == "many":
        problems.append(INVALID_CURSOR)
    if operation.method == "POST":
        problems.append(IDEMPOTENCY_KEY_REUSED)
    if operation.has_body:
        problems.append(UNSUPPORTED_MEDIA_TYPE)
    by_status: dict[int, list[ProblemCode]] = {}
    for problem in dict.fromkeys(problems):
        by_status.setdefault(problem.status, []).append(problem)
    for status, found in sorted(by_status.items()):
        flat = all(problem.flat for problem in found)
        words = "; ".join(f"`{problem.code}`: {problem.meaning}" for problem in found)
        name = "FlatProblem" if flat else "Problem"
        content = {"application/json": {"schema": {"$ref": _REF.format(model=name)}}}
        responses[str(status)] = {"description": words, "content": content}
    return responses


def _success(operation: AnyOperation, outputs: dict[type, Any]) -> dict[str, Any]:
    headers = {"X-Request-Id": {"schema": {"type": "string"}, "description": "Quote it when asking for help."}}
    if operation.shape == "nothing":
        return {"description": "Done.", "headers": headers}
    if operation.shape == "media":
        content: dict[str, Any] = {kind: {} for kind in operation.media_types}
        return {"description": "The bytes; `Range` is honoured.", "headers": headers, "content": content}
    item: dict[str, Any] = outputs[operation.item] if operation.item is not None else {}
    properties: dict[str, Any] = {"data": item}
    if operation.shape == "many":
        properties = {"data": {"type": "array", "items": item}, "pagination": outputs[Pagination]}
    schema = {"type": "object", "required": list(properties), "properties": properties}
    return {"description": "Success.", "headers": headers, "content": {"application/json": {"schema": schema}}}


def _webhook(name: str) -> dict[str, Any]:
    event = EVENT_TYPES[name]
    envelope = _REF.format(model="EventEnvelope")
    data = {"type": "object", "properties": {"data": {"$ref": _REF.format(model=event.data.__name__)}}}
    schema = {"allOf": [{"$ref": envelope}, data]}
    return {
        "post": {
            "summary": f"Sent when {event.fires}.",
            "requestBody": {"content": {"application/json": {"schema": schema}}},
            "responses": {"2XX": {"description": "Received."}},
        }
    }
