"""Sets and removes the routing webhook of a number."""

import secrets
from typing import Any

from sqlalchemy import Row, update

from callwright.contract import inbound_routing as contract
from callwright.service.campaigns.number_status import NO_ROUTING
from callwright.service.handlers import phone_numbers as number_handlers
from callwright.service.handlers.forwarding import checked_forward
from callwright.service.handlers.inbound_routing.shown import shown_routing
from callwright.service.handlers.request_context import RequestContext, handles
from callwright.service.handlers.webhooks.subscriptions import SECRET_BYTES, SECRET_PREFIX
from callwright.service.platform.refusals import invalid, not_found
from callwright.service.rules import webhook_url
from callwright.service.tables.schema import phone_numbers

_N = phone_numbers.c


@handles(contract.set_inbound_routing)
def set_inbound_routing(asked: contract.SetInboundRouting, context: RequestContext) -> contract.NewInboundRouting:
    """The webhook as it is now, with its secret if one was made. How often it failed stays until it answers."""
    number = number_handlers.find(context, asked.id, lock=True)
    number_handlers.check_capable(context, number, "id")
    try:
        webhook_url.check(asked.url, opened=context.settings.webhook_networks, sent="Questions")
    except ValueError as error:
        raise invalid("url", str(error)) from error
    fallback = None if asked.fallback is None else checked_forward(asked.fallback, "fallback", number.number)
    made = None
    if number.routing_secret is None or asked.new_secret:
        made = SECRET_PREFIX + secrets.token_urlsafe(SECRET_BYTES)
    values: dict[str, Any] = {
        "routing_url": asked.url,
        "routing_enabled": asked.enabled,
        "routing_fallback": None if fallback is None else fallback.model_dump_json(),
        "routing_secret": made or number.routing_secret,
    }
    _change(context, number, values)
    found = shown_routing(contract.NewInboundRouting, number_handlers.find(context, asked.id), secret=made)
    assert found is not None  # it was just set
    return found


@handles(contract.remove_inbound_routing)
def remove_inbound_routing(asked: contract.RemoveInboundRouting, context: RequestContext) -> None:
    """A number without a routing webhook; the log of its questions stays. Raises `Refusal`: not_found without one."""
    number = number_handlers.find(context, asked.id, lock=True)
    if number.routing_url is None:
        raise not_found()
    _change(context, number, dict(NO_ROUTING))


def _change(context: RequestContext, number: Row[Any], values: dict[str, Any]) -> None:
    changed = {**values, "settings_changes": _N.settings_changes + 1, "updated_at": context.now_ms}
    context.connection.execute(update(phone_numbers).where(_N.id == number.id).values(**changed))
