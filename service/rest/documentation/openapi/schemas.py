"""Schemas: the contract's models, and the two envelopes of problems."""

from dataclasses import dataclass
from typing import Any, get_args

from pydantic.json_schema import GenerateJsonSchema, models_json_schema

from callwright.contract.checks.bounds import MOST_PROBLEMS
from callwright.contract.declaration.model import Resource
from callwright.contract.declaration.operation import AnyOperation
from callwright.contract.declaration.pagination import Pagination
from callwright.contract.events import EVENT_TYPES, EventEnvelope
from callwright.contract.problems import ProblemType
from callwright.contract.surface import OPERATIONS
from callwright.service.rest.documentation.openapi.headers import Json

_REF = "#/components/schemas/{model}"


def reference(name: str) -> Json:
    return {"$ref": _REF.format(model=name)}


@dataclass(frozen=True)
class Schemas:
    """Component schemas by name, each operation's input, and a reference for each model that is answered."""

    components: Json
    inputs: dict[str, Json]
    answered: dict[type[Resource], Json]


def contract_schemas() -> Schemas:
    """The schemas of all inputs and outputs in the contract."""
    models: list[tuple[Any, Any]] = [(Pagination, "serialization"), (EventEnvelope, "serialization")]
    for operation in OPERATIONS.values():
        models.append((operation.takes, "validation"))
        if operation.item is not None:
            models.append((operation.item, "serialization"))
    models.extend((event.data, "serialization") for event in EVENT_TYPES.values())
    keys, definitions = models_json_schema(
        list(dict.fromkeys(models)), ref_template=_REF, schema_generator=GenerateJsonSchema
    )
    components: Json = definitions["$defs"]
    inputs = {
        operation.name: components[keys[(operation.takes, "validation")]["$ref"].rsplit("/", 1)[1]]
        for operation in OPERATIONS.values()
    }
    for operation in OPERATIONS.values():  # an input is split into parameters and a body
        components.pop(operation.takes.__name__, None)
    answered = {model: {"$ref": keys[(model, mode)]["$ref"]} for model, mode in models if mode == "serialization"}
    components["Problem"] = PROBLEM
    components["FlatProblem"] = FLAT_PROBLEM
    return Schemas(dict(sorted(components.items())), inputs, answered)


def body_schema(operation: AnyOperation, schema: Json) -> Json:
    """The schema of a request's body."""
    properties = {name: shape for name, shape in schema["properties"].items() if operation.place_of(name) == "body"}
    body: Json = {"type": "object", "properties": properties, "additionalProperties": False}
    required = [name for name in schema.get("required", ()) if name in properties]
    if required:
        body["required"] = required
    return body


def _text(description: str, **more: Any) -> Json:
    return {"type": "string", "description": description, **more}


_REQUEST_ID = _text("The same as the header X-Request-Id; quote it when asking for help.")
PROBLEM: Json = {
    "type": "object",
    "description": "Why a request was refused. Some codes carry further members, which their examples show.",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["type", "code", "message", "request_id"],
            "properties": {
                "type": _text("The kind of problem.", enum=list(get_args(ProblemType))),
                "code": _text("What exactly is wrong, for programs."),
                "message": _text("What is wrong, for people. It may change."),
                "field": _text("The field, parameter or header that is wrong; inside an object with dots."),
                "errors": {
                    "type": "array",
                    "maxItems": MOST_PROBLEMS,
                    "description": "What is wrong with the request, the first thing first.",
                    "items": {
                        "type": "object",
                        "required": ["code", "field", "message"],
                        "properties": {
                            "code": _text("What is wrong with the field."),
                            "field": _text("The field."),
                            "message": _text("The same for people."),
                        },
                    },
                },
                "more_errors": {
                    "type": "integer",
                    "description": "How many more things are wrong, where not all of them are named.",
                },
                "request_id": _REQUEST_ID,
            },
        }
    },
}
FLAT_PROBLEM: Json = {
    "type": "object",
    "description": "Why a key or an origin was refused.",
    "required": ["error", "message", "request_id"],
    "properties": {
        "error": _text("The code of the problem."),
        "message": _text("What is wrong, for people. It may change."),
        "action_url": _text("Where a person can put it right, for some codes."),
        "request_id": _REQUEST_ID,
    },
}
