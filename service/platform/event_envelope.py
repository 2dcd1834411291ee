"""The bytes of an event as it is sent, made in one place, because signatures cover exactly these bytes."""

import orjson

from callwright.service.platform.clock.clock import iso_milliseconds


def envelope(event_id: str, type_: str, created_at_ms: int, org_id: str, data_json: str) -> bytes:
    """Compact JSON with the members in the order of `EventEnvelope`; `data` is included as it was stored."""
    members = {
        "id": event_id,
        "type": type_,
        "created_at": iso_milliseconds(created_at_ms),
        "org_id": org_id,
        "data": orjson.Fragment(data_json),
    }
    return orjson.dumps(members)
