"""Describes errors in the parameters of a request, by the SDK's own models."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from mcp.types.methods import parse_client_request
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from callwright.contract.declaration.checking import said_of

_LONGEST_STEP = 40
_LONGEST = 300
_AGAIN = "Correct it and send the request again."


def wrong_params(method: str, version: str, params: Mapping[str, Any] | None) -> str | None:
    """The first error, with its place and what to do; None if the parameters are of the right form.

    Values are not repeated.
    """
    try:
        parse_client_request(method, version, params)
    except ValidationError as error:
        found = _of_the_meant_branch(error.errors(include_url=False, include_input=False))
        sent = {} if params is None else {"params": params}
        place = _place(found[0], sent)
        said = dict.fromkeys(said_of(entry) for entry in found if _place(entry, sent) == place)
        return f"{place}: {' or '.join(said)[:_LONGEST]}. {_AGAIN}"
    except KeyError:
        return None
    return None


def _of_the_meant_branch(found: Sequence[ErrorDetails]) -> Sequence[ErrorDetails]:
    """The errors without those of branches with another type; if no branch matches, the errors that say so."""
    others = {entry["loc"][:-1] for entry in found if entry["type"] == "literal_error"}
    meant = [entry for entry in found if not any(entry["loc"][: len(other)] == other for other in others)]
    return meant or [entry for entry in found if entry["type"] == "literal_error"]


def _place(entry: ErrorDetails, sent: object) -> str:
    """The place of an error, without the names of models that pydantic inserts."""
    steps: list[str] = []
    for index, step in enumerate(entry["loc"]):
        is_last = index == len(entry["loc"]) - 1
        inside = cast("dict[object, object] | list[object]", sent)
        if isinstance(sent, Mapping) and step in inside:
            sent = cast("dict[object, object]", inside)[step]
        elif isinstance(sent, list) and isinstance(step, int) and step < len(inside):
            sent = cast("list[object]", inside)[step]
        elif not (is_last and entry["type"] == "missing"):
            continue
        text = str(step)[:_LONGEST_STEP]
        steps.append(text if text.isprintable() else ascii(text)[1:-1])
    return ".".join(steps)
