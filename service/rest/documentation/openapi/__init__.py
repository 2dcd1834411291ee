"""The OpenAPI 3.1 description, made from the contract and the examples. Source: OpenAPI Specification 3.1.1.

The modules are imported when the description is first requested, not when the service starts.
"""

from functools import cache
from typing import Any

import orjson

__all__ = ["describe", "document"]


@cache
def document() -> bytes:
    """The description as JSON, the same bytes at every call."""
    return orjson.dumps(describe(), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def describe() -> dict[str, Any]:
    from callwright.service.rest.documentation.openapi.openapi_document import build_document

    return build_document()
