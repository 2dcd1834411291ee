"""Parts of a call that are stored as JSON, as the contract shows them."""

from typing import Any

import orjson

from callwright.service.inbound.call_details import InboundDetails
from callwright.service.platform.clock.clock import instant_or_none


def transfer_of(stored: str | None) -> dict[str, Any] | None:
    """The `transfer` of a call, as JSON."""
    if stored is None:
        return None
    given: dict[str, Any] = orjson.loads(stored)
    return given | {name: instant_or_none(given[name]) for name in ("started_at", "bridged_at")}


def inbound_of(stored: str | None) -> dict[str, Any] | None:
    """The `inbound` of a call, as JSON."""
    if stored is None:
        return None
    details = InboundDetails.read(stored)
    return {
        "routed_by": details.routed_by,
        "action": details.action,
        "reason": details.reason,
        "waited_seconds": round(details.waited_s),
        "metadata": dict(details.metadata),
    }


def resolution_of(stored: str | None) -> dict[str, Any] | None:
    """The `resolved` of a call, as JSON."""
    if stored is None:
        return None
    said: dict[str, Any] = orjson.loads(stored)
    return {
        "placed": said["placed"],
        "resolved_at": instant_or_none(said["at_ms"]),
        "actor_id": said["actor"],
        "user_id": said["user_id"],
    }


def correction_of(stored: str | None) -> dict[str, Any] | None:
    """The `correction` of a call, as JSON."""
    if stored is None:
        return None
    said: dict[str, Any] = orjson.loads(stored)
    return {
        "agent_disposition": said["agent_disposition"],
        "note": said["note"],
        "corrected_at": instant_or_none(said["at_ms"]),
        "actor_id": said["actor"],
        "user_id": said["user_id"],
    }
