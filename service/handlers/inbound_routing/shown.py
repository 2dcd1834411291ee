"""Routing webhooks, and the entries of their log, as callers see them."""

import json
from typing import Any, TypeVar

from sqlalchemy import Row

from callwright.contract import inbound_routing as contract
from callwright.service.handlers.resources import resource
from callwright.service.platform.clock.clock import moment_or_none

SHOWN_OF_SECRET = 10
"""Characters of a secret by which it is recognised."""
Routing = TypeVar("Routing", bound=contract.InboundRouting)
Request = TypeVar("Request", bound=contract.RoutingRequest)


def shown_routing(model: type[Routing], number: Row[Any], **more: Any) -> Routing | None:
    """The routing webhook of a number; None if it has none."""
    if number.routing_url is None:
        return None
    return model(
        url=number.routing_url,
        enabled=number.routing_enabled,
        fallback=fallback_of(number),
        secret_prefix=number.routing_secret[:SHOWN_OF_SECRET],
        failures=number.routing_failures,
        failing_since=moment_or_none(number.routing_failing_since),
        **more,
    )


def fallback_of(number: Row[Any]) -> contract.RoutingFallback | None:
    """What the number itself says about callers for whom nothing else does."""
    kept = number.routing_fallback
    return None if kept is None else contract.RoutingFallback.model_validate_json(kept)


def shown_request(model: type[Request], row: Row[Any], **more: Any) -> Request:
    """An entry of the log."""
    return resource(
        model,
        row,
        from_number=json.loads(row.request)["from"],
        response_status=row.status_code,
        response_excerpt=row.answer,
        slow=row.latency_ms > contract.SLOW_ROUTING_MS,
        **more,
    )
