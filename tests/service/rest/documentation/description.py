"""The OpenAPI description, with its references followed."""

from typing import Any

from callwright.contract.declaration.operation import AnyOperation
from callwright.service.rest.documentation.openapi import describe

DESCRIPTION = describe()


def resolved(value: dict[str, Any]) -> dict[str, Any]:
    """A piece of the description, or what it refers to."""
    if "$ref" not in value:
        return value
    found: Any = DESCRIPTION
    for step in value["$ref"].removeprefix("#/").split("/"):
        found = found[step]
    return found


def entry_of(operation: AnyOperation) -> dict[str, Any]:
    """What the description says of an operation."""
    return DESCRIPTION["paths"][f"/v1{operation.path}"][operation.method.lower()]


def parameters_of(operation: AnyOperation) -> list[dict[str, Any]]:
    """An operation's parameters."""
    return [resolved(parameter) for parameter in entry_of(operation)["parameters"]]


def answers_of(operation: AnyOperation) -> dict[str, dict[str, Any]]:
    """An operation's answers by status."""
    return {status: resolved(answer) for status, answer in entry_of(operation)["responses"].items()}
