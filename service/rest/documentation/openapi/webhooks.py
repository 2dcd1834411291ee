"""Events as they are sent to subscribers."""

from callwright.contract.events import EVENT_TYPES, EventType
from callwright.service.rest.documentation.examples import event_example
from callwright.service.rest.documentation.openapi.headers import Json
from callwright.service.rest.documentation.openapi.schemas import reference

_SIGNATURE_WORDS = (
    "`t=<unix_seconds>,v1=<hex_digest>`. The digest is the HMAC-SHA256 of `<t>.<raw body>` with the subscription's "
    "secret, in hexadecimal digits. Compare it in constant time, over the bytes as they came, and refuse a moment that "
    "lies more than 300 seconds from now. There may be more than one `v1`."
)
_SIGNATURE: Json = {
    "name": "X-Service-Signature",
    "in": "header",
    "required": True,
    "description": _SIGNATURE_WORDS,
    "schema": {"type": "string", "pattern": "^t=[0-9]+(,v1=[0-9a-f]{64})+$"},
    "example": f"t=1795532401,v1={'0c59f1a7' * 8}",
}
COMPONENTS: Json = {"X-Service-Signature": _SIGNATURE}


def webhooks() -> Json:
    return {name: {"post": _event(event)} for name, event in EVENT_TYPES.items()}


def _event(event: EventType) -> Json:
    data: Json = {"properties": {"type": {"const": event.name}, "data": reference(event.data.__name__)}}
    content: Json = {"schema": {"allOf": [reference("EventEnvelope"), data]}}
    example = event_example(event.name)
    if example is not None:
        content["example"] = example
    return {
        "operationId": f"on_{event.name.replace('.', '_')}",
        "summary": f"Sent when {event.fires}.",
        "description": (
            "Events may come more than once, with the same `id`, and in any order; `created_at` says when each was "
            "generated."
        ),
        "tags": ["events"],
        "security": [],
        "parameters": [{"$ref": "#/components/parameters/X-Service-Signature"}],
        "requestBody": {"required": True, "content": {"application/json": content}},
        "responses": {
            "2XX": {"description": "Received. The body is ignored."},
            "4XX": {"description": "Refused; the event is not sent again."},
            "5XX": {"description": "Failed; the event is sent again later."},
        },
    }
