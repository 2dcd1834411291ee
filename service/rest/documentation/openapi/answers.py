"""Answers of operations that succeeded: their content and headers."""

from typing import Any

from callwright.contract.declaration.operation import AnyOperation
from callwright.contract.declaration.pagination import Pagination
from callwright.service.rest.documentation.examples import example_of
from callwright.service.rest.documentation.openapi.headers import DEPRECATION, LIMITS, MEDIA, REQUEST_ID, Json, headers
from callwright.service.rest.documentation.openapi.schemas import Schemas


def successes(operation: AnyOperation, schemas: Schemas) -> Json:
    """The answers without a problem, by status."""
    sent = [REQUEST_ID, *LIMITS, "X-Service-Beta"]
    if operation.deprecated is not None:
        sent += DEPRECATION
    if operation.shape == "media":
        return _media(operation, sent)
    if operation.creates and operation.item is not None and "id" in operation.item.model_fields:
        sent.append("Location")
    if operation.method == "POST":
        sent.append("Idempotent-Replayed")
    if operation.shape == "nothing":
        return {str(operation.status): {"description": "Done. There is no body.", "headers": headers(*sent)}}
    content: Json = {"schema": _envelope(operation, schemas)}
    example = example_of(operation.name)
    if example is not None:
        content["example"] = example.answer.body
    answer = {"description": _words(operation), "headers": headers(*sent), "content": {"application/json": content}}
    return {str(operation.status): answer}


def _words(operation: AnyOperation) -> str:
    if operation.shape == "many":
        return "A page of the list."
    if operation.status == 202:
        return "Begun. It goes on by itself; look again to see how far it is."
    return "Made." if operation.creates else "Done." if operation.writes else "Found."


def _envelope(operation: AnyOperation, schemas: Schemas) -> Json:
    item: Any = schemas.answered[operation.item] if operation.item is not None else {}
    properties: Json = {"data": item}
    if operation.shape == "many":
        properties = {"data": {"type": "array", "items": item}, "pagination": schemas.answered[Pagination]}
    return {"type": "object", "required": list(properties), "properties": properties}


def _media(operation: AnyOperation, sent: list[str]) -> Json:
    whole: Json = {kind: {} for kind in operation.media_types}
    if operation.is_streamed:
        words = "The whole file. It is written while it is sent: one that ends without its last chunk is not whole."
        return {str(operation.status): {"description": words, "headers": headers(*sent), "content": whole}}
    part: Json = {**whole, "multipart/byteranges": {}}
    return {
        str(operation.status): {"description": "The whole file.", "headers": headers(*sent, *MEDIA), "content": whole},
        "206": {
            "description": "The part that `Range` names. Several parts come as multipart/byteranges.",
            "headers": headers(*sent, *MEDIA, "Content-Range"),
            "content": part,
        },
        "304": {
            "description": "The file is still the one that `If-None-Match` names.",
            "headers": headers(*sent, "ETag", "X-Service-Simulated"),
        },
    }
