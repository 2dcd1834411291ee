"""The page of limits, from the constants that set them."""

from collections.abc import Iterator
from typing import Any

from callwright.contract.agents.agents import CreateAgent
from callwright.contract.audiences import AddAudienceRows, CreateAudience, ImportAudience
from callwright.contract.declaration.operation import SLOW_GROUPS, AnyOperation
from callwright.contract.declaration.pagination import MOST_COUNTED, PageQuery
from callwright.contract.deployments.deployments import CreateDeployment
from callwright.contract.deployments.dialling import RetryPolicy
from callwright.contract.problems import (
    DAILY_QUOTA_EXCEEDED,
    INVALID_FIELD,
    PAYLOAD_TOO_LARGE,
    PLAN_EXPIRED,
    PLAN_LIMIT_REACHED,
    RATE_LIMITED,
    REQUEST_TIMEOUT,
    ProblemCode,
)
from callwright.contract.surface import OPERATIONS
from callwright.contract.webhooks import MOST_REPLAYED, MOST_SUBSCRIPTIONS, CreateWebhook
from callwright.service.accounts import MAX_ACTIVE_KEYS
from callwright.service.platform.clock.clock import HOUR, MINUTE, SECOND
from callwright.service.platform.database.listing import MAX_OFFSET
from callwright.service.rest import incoming, requests
from callwright.service.rest.authentication import auth_throttle
from callwright.service.rest.documentation.reference.tables import number, table
from callwright.service.rest.idempotency import LIFETIME_MS
from callwright.service.rules.organization_plans import PRICE_PLANS
from callwright.service.rules.plan_id import VALID_MS
from callwright.service.rules.rows import MAX_CELL, MAX_COLUMNS, MAX_OWN_ID_BYTES

Limit = tuple[str, str, ProblemCode | None]
"""What is limited, the value, and the problem beyond it; None if nothing is refused."""


def limits_page() -> str:
    lines = ["# Limits", "", "## Plans", "", *_plans(), "", *_groups(), ""]
    for title, limits in (("Requests", _requests()), ("Lists", _lists()), ("Sizes", _sizes())):
        rows = [(what, much, _link(problem)) for what, much, problem in limits]
        lines += [f"## {title}", "", *table(("limit", "value", "beyond it"), rows), ""]
    return "\n".join(lines).rstrip() + "\n"


def _plans() -> list[str]:
    heads = ("plan", "requests a second", "requests a day", "deployments at a time", "calls at a time", "recordings")
    rows = [
        (
            plan.name,
            _most(plan.requests_per_second),
            _most(plan.requests_per_day),
            _most(plan.concurrent_deployments),
            number(plan.concurrent_calls or _shape(CreateDeployment, "max_concurrency")["maximum"]),
            f"{plan.recording_retention_days} days",
        )
        for plan in PRICE_PLANS.values()
    ]
    return table(heads, rows)


def _most(value: int | None) -> str:
    return "no limit, or as agreed" if value is None else number(value)


def _groups() -> list[str]:
    groups: dict[str, AnyOperation] = {}
    for operation in OPERATIONS.values():
        groups.setdefault(operation.group, operation)
    full = ", ".join(group for group, operation in groups.items() if operation.group not in SLOW_GROUPS)
    slow = ", ".join(f"{group} ({groups[group].rate_share:.0%})" for group in SLOW_GROUPS if group in groups)
    return [
        f"Requests count for each key. Those of a second count for each group of endpoints by itself: {full}. A part "
        f"of them is allowed for: {slow}. A second's requests may come at once; what is more is refused with "
        f"{_link(RATE_LIMITED)}.",
        "",
        f"The requests of a day count together, and the day is one of UTC: {_link(DAILY_QUOTA_EXCEEDED)}. Deployments "
        f"count while they are scheduled, active or paused: {_link(PLAN_LIMIT_REACHED)}.",
    ]


def _link(problem: ProblemCode | None) -> str:
    return "" if problem is None else f"[`{problem.code}`](errors.md#{problem.code})"


def _requests() -> Iterator[Limit]:
    yield "A body", f"{number(incoming.MAX_BODY)} bytes", PAYLOAD_TOO_LARGE
    yield "The time in which a body arrives", f"{number(incoming.BODY_LIMIT_S)} seconds", REQUEST_TIMEOUT
    yield "A query string", f"{number(requests.MAX_QUERY)} bytes", INVALID_FIELD
    yield "Parameters of a query", number(requests.MOST_PARAMETERS), INVALID_FIELD
    yield "An Idempotency-Key is remembered", f"{LIFETIME_MS // HOUR} hours from its first request", None
    yield "An Idempotency-Key", "1 to 255 visible ASCII characters", INVALID_FIELD
    minute = f"{auth_throttle.ALLOWED} in {auth_throttle.WINDOW_MS // SECOND} seconds"
    yield "Unknown keys from one address", minute, RATE_LIMITED
    yield "A plan_id can be used", f"{VALID_MS // MINUTE} minutes", PLAN_EXPIRED


def _lists() -> Iterator[Limit]:
    page = _shape(PageQuery, "per_page")
    yield "Entries per page", f"{page['minimum']} to {page['maximum']}, {page['default']} if absent", INVALID_FIELD
    yield "Entries that `page` may pass over", f"{number(MAX_OFFSET)}; use `cursor` beyond", INVALID_FIELD
    yield "Entries that are counted where counting would take long", number(MOST_COUNTED), None


def _sizes() -> Iterator[Limit]:
    yield "Active API keys of an organization", f"{MAX_ACTIVE_KEYS}; they do not expire", None
    yield "Webhook subscriptions of an organization", number(MOST_SUBSCRIPTIONS), PLAN_LIMIT_REACHED
    yield "The URL of a webhook subscription", _characters(CreateWebhook, "url"), INVALID_FIELD
    yield "Deliveries that one replay makes", f"{number(MOST_REPLAYED)}; `has_more` tells of further ones", None
    yield "Names", _characters(CreateAgent, "name"), INVALID_FIELD
    yield "System prompt", _characters(CreateAgent, "system_prompt"), INVALID_FIELD
    yield "Welcome message", _characters(CreateAgent, "welcome_message"), INVALID_FIELD
    yield "Metadata", _shape(CreateAgent, "metadata")["description"].partition(": ")[2].rstrip("."), INVALID_FIELD
    yield "Rows in a request", number(_shape(AddAudienceRows, "rows")["maxItems"]), INVALID_FIELD
    yield "Rows with a new audience", number(_shape(CreateAudience, "rows")["maxItems"]), INVALID_FIELD
    body = f"{_characters(ImportAudience, 'csv')}; first its request counts as a body, which is refused with 413"
    yield "A CSV file", body, INVALID_FIELD
    yield "Columns of a row", str(MAX_COLUMNS), None
    yield "A cell", f"{number(MAX_CELL)} characters", None
    yield "A list's own id of a person", f"{number(MAX_OWN_ID_BYTES)} bytes in UTF-8", None
    numbers = _shape(CreateDeployment, "phone_number_ids")
    yield "Phone numbers of a deployment", str(numbers["maxItems"]), INVALID_FIELD
    calls = number(_shape(CreateDeployment, "max_concurrency")["maximum"])
    yield "Calls at a time of a deployment", calls, INVALID_FIELD
    yield "New calls a second of a deployment", _range(CreateDeployment, "calls_per_second"), INVALID_FIELD
    yield "Seconds of ringing", _range(CreateDeployment, "ring_timeout_seconds"), INVALID_FIELD
    yield "Seconds of a call", _range(CreateDeployment, "max_call_duration_seconds"), INVALID_FIELD
    yield "Calls to a contact", _range(RetryPolicy, "max_attempts"), INVALID_FIELD


def _shape(model: Any, field: str) -> dict[str, Any]:
    """The schema of a field, without the null of one that may be left out."""
    shape: dict[str, Any] = model.model_json_schema()["properties"][field]
    return shape["anyOf"][0] if "anyOf" in shape else shape


def _characters(model: Any, field: str) -> str:
    return f"{number(_shape(model, field)['maxLength'])} characters"


def _range(model: Any, field: str) -> str:
    shape = _shape(model, field)
    return f"{number(shape['minimum'])} to {number(shape['maximum'])}"
