"""The whole OpenAPI document."""

from importlib.metadata import version

from callwright.contract.declaration.operation import AnyOperation
from callwright.contract.surface import OPERATIONS
from callwright.service.rest.documentation.examples import example_of
from callwright.service.rest.documentation.openapi import webhooks
from callwright.service.rest.documentation.openapi.answers import successes
from callwright.service.rest.documentation.openapi.descriptions import ABOUT, about_nouns, about_operation
from callwright.service.rest.documentation.openapi.headers import Json, header_components
from callwright.service.rest.documentation.openapi.parameters import parameters, request_body, shared
from callwright.service.rest.documentation.openapi.problems import ProblemAnswers
from callwright.service.rest.documentation.openapi.schemas import Schemas, body_schema, contract_schemas
from callwright.service.rest.routes import PREFIX


def build_document() -> Json:
    schemas = contract_schemas()
    problems = ProblemAnswers(OPERATIONS.values())
    entries = {
        name: operation_entry(operation, schemas, problems.of(operation)) for name, operation in OPERATIONS.items()
    }
    together = shared((OPERATIONS[name], entry["parameters"]) for name, entry in entries.items())
    paths: dict[str, Json] = {}
    for name, operation in OPERATIONS.items():
        paths.setdefault(PREFIX + operation.path, {})[operation.method.lower()] = entries[name]
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Callwright",
            "version": version("callwright"),
            "summary": "A voice-agent platform.",
            "description": ABOUT,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/", "description": "This service."}],
        "security": [{"apiKey": []}],
        "tags": [{"name": noun, "description": said} for noun, said in {**about_nouns(), **_EXTRA_TAGS}.items()],
        "paths": paths,
        "webhooks": webhooks.webhooks(),
        "components": {
            "schemas": schemas.components,
            "responses": problems.responses,
            "parameters": {**together, **webhooks.COMPONENTS},
            "examples": problems.examples,
            "headers": header_components(OPERATIONS.values()),
            "securitySchemes": {"apiKey": _API_KEY},
        },
    }


_EXTRA_TAGS = {"events": "What the service tells subscribers."}
_API_KEY: Json = {
    "type": "http",
    "scheme": "bearer",
    "bearerFormat": "svc_live_ and 48 hexadecimal digits",
    "description": (
        "An API key: `svc_live_` and 48 hexadecimal digits. It belongs to one organization and may do everything "
        "there. It is shown once, when it is made, and does not expire; revoked, it is refused at the next request."
    ),
}


def operation_entry(operation: AnyOperation, schemas: Schemas, problems: Json) -> Json:
    """The entry of an operation. `problems` are its answers with problems, by status."""
    schema = schemas.inputs[operation.name]
    entry: Json = {
        "operationId": operation.name,
        "summary": operation.summary,
        "description": about_operation(operation),
        "tags": [operation.noun],
        "parameters": parameters(operation, schema),
    }
    if operation.deprecated is not None:
        entry["deprecated"] = True
    if operation.has_body:
        example = example_of(operation.name)
        entry["requestBody"] = request_body(body_schema(operation, schema), example.body if example else None)
    entry["responses"] = {**successes(operation, schemas), **problems}
    return entry
