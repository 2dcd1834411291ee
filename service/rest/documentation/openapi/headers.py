"""Headers of answers, each described once."""

from collections.abc import Iterable
from typing import Any

from callwright.contract.declaration.operation import AnyOperation

Json = dict[str, Any]

REQUEST_ID = "X-Request-Id"
LIMITS = ("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset")
"""The headers of every answer to a valid key, unless its plan has no limit."""
MEDIA = ("ETag", "Accept-Ranges", "X-Service-Simulated")
DEPRECATION = ("Deprecation", "Sunset", "Link")


def _header(description: str, example: Any, **schema: Any) -> Json:
    return {"description": description, "schema": schema or {"type": "string"}, "example": example}


HEADERS: dict[str, Json] = {
    REQUEST_ID: _header("Names this request; quote it when asking for help.", "req_0Vbu30bIljcLpVYrD2IgEQZ9"),
    "Location": _header("Where the resource is that was made.", "/v1/agents/agt_0Vbu38PAX6HFoUz4VbJKRXtq"),
    "Idempotent-Replayed": _header(
        "`true` on an answer that is given again because the Idempotency-Key was used before; absent otherwise.",
        "true",
        type="string",
        const="true",
    ),
    LIMITS[0]: _header(
        "How many requests the nearest limit allows: those of a second for this group of endpoints, or those of a day. "
        "Absent where the plan sets no limit.",
        100,
        type="integer",
        minimum=1,
    ),
    LIMITS[1]: _header("How many of them are left.", 99, type="integer", minimum=0),
    LIMITS[2]: _header("When the limit is whole again, in Unix seconds.", 1795532401, type="integer", minimum=0),
    "Retry-After": _header("Seconds to wait before the next try.", 1, type="integer", minimum=1),
    "ETag": _header("Names these bytes: send it as `If-None-Match` or `If-Range`.", '"5d41402a-mp3-18"'),
    "Accept-Ranges": _header("`bytes`: a part may be asked for with `Range`.", "bytes", type="string", const="bytes"),
    "Content-Range": _header("Which bytes these are, of how many.", "bytes 0-1023/76480"),
    "X-Service-Simulated": _header(
        "`true` where the sound was made on the simulated network: nobody said it.", "true", type="string", const="true"
    ),
    "X-Service-Beta": _header("The beta features that the request has switched on.", "enable=ratelimit_fields"),
    "Deprecation": _header("Since when the operation is deprecated (RFC 9745): @ and Unix seconds.", "@1795532400"),
    "Sunset": _header("When the operation ends (RFC 8594), as an HTTP date.", "Wed, 24 Nov 2027 15:00:00 GMT"),
    "Link": _header('What says more, with `rel="sunset"`.', '</docs/changes>; rel="sunset"'),
}


def header_components(operations: Iterable[AnyOperation]) -> Json:
    """The headers that some answer of these operations has."""
    deprecated = any(operation.deprecated is not None for operation in operations)
    return {name: header for name, header in HEADERS.items() if deprecated or name not in DEPRECATION}


def headers(*names: str) -> Json:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}
