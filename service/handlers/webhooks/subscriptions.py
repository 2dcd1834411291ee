"""Creates, changes and deletes webhook subscriptions, and rotates their secrets."""

import secrets
from typing import Any, TypeVar

from sqlalchemy import Row, bindparam, func, insert, select, update

from callwright.contract import webhooks as contract
from callwright.contract.declaration.pagination import Page
from callwright.contract.events import WEBHOOK_DISABLED, WebhookDisabled
from callwright.contract.problems import INVALID_STATE_TRANSITION, PLAN_LIMIT_REACHED, SECRETS_STILL_SIGN
from callwright.service.handlers.changes import given
from callwright.service.handlers.request_context import RequestContext, handles
from callwright.service.handlers.resources import resource
from callwright.service.platform.clock.clock import SECOND, instant_or_none, moment
from callwright.service.platform.database.listing import Listing
from callwright.service.platform.json_text import json_text
from callwright.service.platform.refusals import Refusal, invalid
from callwright.service.rules import webhook_url
from callwright.service.tables.delivery_rows import end_pending
from callwright.service.tables.schema import endpoint_queues, organizations, webhooks
from callwright.service.webhooks import signing

SECRET_PREFIX = "whsec_"
SECRET_BYTES = 32
SHOWN_OF_SECRET = 10
"""Characters of a secret by which it is recognised."""

Shown = TypeVar("Shown", contract.Webhook, contract.NewWebhook)
_W = webhooks.c
_FIND = select(webhooks).where(_W.id == bindparam("id"), _W.org_id == bindparam("org"), _W.deleted_at.is_(None))
_FOR_CHANGE = _FIND.with_for_update(key_share=True)
_FOR_SENDING = _FIND.with_for_update(read=True)
_ADD = insert(webhooks)
_ADD_QUEUE = insert(endpoint_queues)
_HOLD = select(organizations.c.id).where(organizations.c.id == bindparam("org")).with_for_update(key_share=True)
_COUNT = select(func.count()).where(_W.org_id == bindparam("org"), _W.deleted_at.is_(None))
_DISABLED_ALLOWS = ("update", "rotate_secret", "delete")


def find(context: RequestContext, webhook_id: str, *, field: str | None = None) -> Row[Any]:
    """The subscription's row. Raises `Refusal`: not_found, also for one that was deleted."""
    return context.one(_FIND, field=field, id=webhook_id)


def find_active(context: RequestContext, webhook_id: str, *, field: str | None = None) -> Row[Any]:
    """The row of an active subscription, which nobody disables or deletes before this transaction ends.

    Raises:
        Refusal: not_found; invalid_state_transition for a subscription that is disabled.
    """
    row = context.one(_FOR_SENDING, field=field, id=webhook_id)
    if row.status != "active":
        raise Refusal(
            INVALID_STATE_TRANSITION,
            "nothing is sent to a webhook subscription that is disabled; update it with the status active first",
            field=field,
            details={"current_status": row.status, "allowed": list(_DISABLED_ALLOWS)},
        )
    return row


def _to_resource(model: type[Shown], row: Row[Any], now_ms: int) -> Shown:
    ends = [until_ms for _, until_ms in signing.earlier_at(now_ms, row.earlier_secrets)]
    until = moment(max(ends)) if ends else None
    return resource(model, row, secret_prefix=row.secret[:SHOWN_OF_SECRET], previous_secret_until=until)


def _get_resource(context: RequestContext, webhook_id: str) -> contract.Webhook:
    return _to_resource(contract.Webhook, find(context, webhook_id), context.now_ms)


def _seen_with_secret(context: RequestContext, webhook_id: str) -> contract.NewWebhook:
    return _to_resource(contract.NewWebhook, find(context, webhook_id), context.now_ms)


def _check_url(context: RequestContext, url: str) -> None:
    try:
        webhook_url.check(url, opened=context.settings.webhook_networks)
    except ValueError as error:
        raise invalid("url", str(error)) from error


def _check_room(context: RequestContext) -> None:
    """Raises `Refusal` at the limit of subscriptions. On Postgres, creations in one organization take turns here."""
    context.connection.execute(_HOLD, {"org": context.org_id})
    current: int = context.connection.execute(_COUNT, {"org": context.org_id}).scalar_one()
    if current >= contract.MOST_SUBSCRIPTIONS:
        raise Refusal(
            PLAN_LIMIT_REACHED,
            f"an organization has at most {contract.MOST_SUBSCRIPTIONS} webhook subscriptions; delete one first",
            details={"limit": contract.MOST_SUBSCRIPTIONS, "current": current},
        )


def _new_secret(given_one: str | None) -> str:
    return given_one or SECRET_PREFIX + secrets.token_urlsafe(SECRET_BYTES)


def _event_names(names: list[str]) -> str:
    return json_text(list(dict.fromkeys(names)))


@handles(contract.list_webhooks)
def list_webhooks(asked: contract.ListWebhooks, context: RequestContext) -> Page[contract.Webhook]:
    """A page of subscriptions."""
    own = select(webhooks).where(_W.org_id == context.org_id, _W.deleted_at.is_(None))
    columns = {name: _W[name] for name in ("status", "created_at", "updated_at")}
    listing = Listing(contract.list_webhooks, own, columns, _W.id)

    def to_resource(row: Row[Any]) -> contract.Webhook:
        return _to_resource(contract.Webhook, row, context.now_ms)

    return context.page(listing, asked, to_resource)


@handles(contract.get_webhook)
def get_webhook(asked: contract.GetWebhook, context: RequestContext) -> contract.Webhook:
    """One subscription."""
    return _get_resource(context, asked.id)


@handles(contract.create_webhook, brief=True)
def create_webhook(asked: contract.CreateWebhook, context: RequestContext) -> contract.NewWebhook:
    """A new subscription with its secret."""
    _check_url(context, asked.url)
    _check_room(context)
    row: dict[str, Any] = {
        **context.new_row("whk"),
        "url": asked.url,
        "events": _event_names(asked.events),
        "description": asked.description,
        "secret": _new_secret(asked.secret),
        "status": "active",
        "enabled_at": context.now_ms,
        "consecutive_failures": 0,
        "metadata": json_text(asked.metadata),
    }
    context.connection.execute(_ADD, row)
    context.connection.execute(_ADD_QUEUE, {"webhook_id": row["id"]})
    return _seen_with_secret(context, row["id"])


@handles(contract.update_webhook, preempts=True)
def update_webhook(asked: contract.UpdateWebhook, context: RequestContext) -> contract.Webhook:
    """A changed subscription. Deliveries that wait when it is disabled are missed. Its log survives a change of URL."""
    row = context.one(_FOR_CHANGE, id=asked.id)
    changes = given(asked)
    if "url" in changes:
        _check_url(context, changes["url"])
    if "events" in changes:
        changes["events"] = _event_names(changes["events"])
    status = changes.get("status", row.status)
    if status != row.status:
        changes |= _enabled(context) if status == "active" else _disabled(context)
    _change(context, row.id, **changes)
    if status != row.status and status == "disabled":
        end_pending(context.connection, row.id, "missed", context.now_ms)
        _tell_disabled(context, row)
    return _get_resource(context, row.id)


def _enabled(context: RequestContext) -> dict[str, Any]:
    return {"enabled_at": context.now_ms, "consecutive_failures": 0, "disabled_reason": None, "disabled_at": None}


def _disabled(context: RequestContext) -> dict[str, Any]:
    return {"disabled_reason": "manual", "disabled_at": context.now_ms}


def _tell_disabled(context: RequestContext, row: Row[Any]) -> None:
    data = WebhookDisabled(
        webhook_id=row.id,
        reason="manual",
        consecutive_failures=row.consecutive_failures,
        last_response_status=row.last_response_status,
    )
    context.emit(WEBHOOK_DISABLED, data)


@handles(contract.delete_webhook, preempts=True)
def delete_webhook(asked: contract.DeleteWebhook, context: RequestContext) -> None:
    """Ends a subscription. Its row stays without secrets, so that the log of its deliveries can be read by event."""
    row = context.one(_FOR_CHANGE, id=asked.id)
    _change(context, row.id, deleted_at=context.now_ms, secret="", earlier_secrets="[]")
    end_pending(context.connection, row.id, "cancelled", context.now_ms)


@handles(contract.rotate_webhook_secret, brief=True)
def rotate_webhook_secret(asked: contract.RotateWebhookSecret, context: RequestContext) -> contract.NewWebhook:
    """A new secret. The one before still signs until the overlap ends, earlier ones until their own overlaps end."""
    row = context.one(_FOR_CHANGE, id=asked.id)
    if asked.secret == row.secret:
        raise invalid("secret", "is the secret it has already; give another one, or leave it out")
    earlier = [one for one in signing.earlier_at(context.now_ms, row.earlier_secrets) if one[0] != asked.secret]
    if asked.overlap_seconds > 0:
        _check_room_for_secret(earlier)
        earlier.insert(0, (row.secret, context.now_ms + asked.overlap_seconds * SECOND))
    _change(context, row.id, secret=_new_secret(asked.secret), earlier_secrets=json_text(earlier))
    return _seen_with_secret(context, row.id)


def _check_room_for_secret(earlier: list[tuple[str, int]]) -> None:
    if len(earlier) < contract.MOST_EARLIER_SECRETS:
        return
    possible_from = instant_or_none(-(-min(until_ms for _, until_ms in earlier) // SECOND) * SECOND)
    raise Refusal(
        SECRETS_STILL_SIGN,
        f"{len(earlier)} earlier secrets still sign, and that is the most; the next rotation is possible from "
        f"{possible_from} on, or now with overlap_seconds 0, which ends the present secret at once",
        details={"possible_from": possible_from},
    )


def _change(context: RequestContext, webhook_id: str, **values: Any) -> None:
    context.connection.execute(update(webhooks).where(_W.id == webhook_id).values(**values, updated_at=context.now_ms))
