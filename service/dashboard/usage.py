"""What an organization uses of each limit that holds for it. A limit that nothing enforces is not here."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Table, func, select

from callwright.contract.audiences import MAX_ROWS
from callwright.contract.deployments.call_price import CURRENCY
from callwright.contract.providers import MOST_PROVIDERS
from callwright.contract.simulated_callers import MOST_TO_COME
from callwright.contract.webhooks import MOST_SUBSCRIPTIONS
from callwright.service import accounts
from callwright.service.accounts.sessions import MOST_SESSIONS
from callwright.service.campaigns import spending_cap
from callwright.service.campaigns.start_guards import COUNTED
from callwright.service.dashboard.html.formats import money
from callwright.service.dialling.limits.concurrency import CALLERS, CALLING, CAMPAIGN_CALLS
from callwright.service.handlers.deployments.talks import MOST_TALKS
from callwright.service.inbound import browser_callers, callers
from callwright.service.platform.money import amount
from callwright.service.rules.organization_plans import NEGOTIABLE, PricePlan, plan_of
from callwright.service.rules.request_rate import day_of
from callwright.service.tables.ledger import wallet_of
from callwright.service.tables.schema import (
    audiences,
    dashboard_sessions,
    deployments,
    organizations,
    providers,
    request_days,
    request_levels,
    webhooks,
)

MOST_KEYS = 50
"""Keys that are shown, the newest."""
_D, _O = deployments.c, organizations.c


@dataclass(frozen=True)
class Use:
    """What is used of a limit; a `limit` of None: there is none. `beyond` says what happens at the limit."""

    what: str
    used: int
    limit: int | None
    beyond: str
    is_money: bool = False

    @property
    def is_full(self) -> bool:
        """Whether nothing is left."""
        return self.limit is not None and self.used >= self.limit

    def shown(self, value: int) -> str:
        """A figure: a count, or an amount that is kept in micros."""
        return money({"amount": amount(value), "currency": CURRENCY}) if self.is_money else f"{value:,}"


@dataclass(frozen=True)
class Usage:
    """All limits by subject, and the plan from which some of them come."""

    plan: PricePlan
    groups: Sequence[tuple[str, Sequence[Use]]]


def usage_of(connection: Connection, org_id: str, user_id: str, now_ms: int) -> Usage:
    """What is used of each limit now. It reads counters, and few rows of each kind."""
    limits = select(_O.plan, *(_O[name] for name in NEGOTIABLE)).where(_O.id == org_id)
    plan = plan_of(connection.execute(limits).one())
    keys = [row for row in accounts.keys_of(connection, org_id) if row.revoked_at is None]
    groups = (
        ("Calls", _calls(connection, org_id, plan, now_ms)),
        ("Requests today", _requests(connection, keys[:MOST_KEYS], plan, user_id, now_ms)),
        ("Money", _money(connection, org_id, keys[:MOST_KEYS])),
        ("What there may be", _things(connection, org_id, user_id, sum(key.kind == "live" for key in keys))),
    )
    return Usage(plan, groups)


def _calls(connection: Connection, org_id: str, plan: PricePlan, now_ms: int) -> list[Use]:
    of_campaigns = connection.execute(CAMPAIGN_CALLS, {"org": org_id}).scalar_one()
    of_callers = max(0, connection.execute(CALLERS, {"org": org_id}).scalar_one())
    reserved = plan.reserved_inbound_concurrency
    running = _count(connection, deployments, _D.org_id == org_id, _D.call_type == "outbound", _D.status.in_(COUNTED))
    talks = _count(connection, deployments, _D.org_id == org_id, CALLING, _D.call_type == "web", _D.in_flight > 0)
    lines = "Campaigns wait with their next call; a caller gets what the deployment says of overflow."
    taken = "Of these lines; further callers take those that campaigns leave free."
    return [
        Use("Calls under way", of_campaigns + of_callers, plan.concurrent_calls, lines),
        *(
            [Use("Lines kept for callers that are in use", min(of_callers, reserved), reserved, taken)]
            if reserved
            else []
        ),
        Use(
            "Campaigns that are scheduled, active or paused",
            running,
            plan.concurrent_deployments,
            "Starting another one is refused until one has ended.",
        ),
        Use("Talks in the browser with agents", talks, MOST_TALKS, "Another one is refused until one has ended."),
        Use(
            "Links that call a number from a browser",
            browser_callers.count_open(connection, org_id, now_ms),
            MOST_TALKS,
            "Another one is refused until one was opened or is too old.",
        ),
        Use(
            "Simulated callers who are still to call",
            callers.to_come(connection, org_id),
            MOST_TO_COME,
            "More are refused.",
        ),
    ]


def _requests(connection: Connection, keys: Sequence[Any], plan: PricePlan, user_id: str, now_ms: int) -> list[Use]:
    if plan.requests_per_day is None:
        return []  # they are not counted
    day = day_of(now_ms)
    ids = [user_id, *(key.id for key in keys)]
    kept = select(request_days.c.key_id, request_days.c.requests).where(
        request_days.c.key_id.in_(ids), request_days.c.day == day
    )
    latest = select(request_levels.c.key_id, request_levels.c.level).where(
        request_levels.c.key_id.in_(ids), request_levels.c.name == "day", request_levels.c.at == day
    )
    made: dict[str, int] = {}
    for key_id, requests in (*connection.execute(kept), *connection.execute(latest)):
        made[key_id] = max(made.get(key_id, 0), int(requests))
    beyond = "More are refused until midnight UTC."
    named = [(user_id, "You, in the dashboard"), *((key.id, key.label or f"{key.identity}…") for key in keys)]
    return [Use(name, made.get(key_id, 0), plan.requests_per_day, beyond) for key_id, name in named]


def _money(connection: Connection, org_id: str, keys: Sequence[Any]) -> list[Use]:
    wallet = wallet_of(connection, org_id)
    covered = "A call begins only if the rest covers it; without it a start is refused."
    return [
        Use("Balance that is held for calls under way", wallet.reserved_micros, wallet.balance_micros, covered, True),
        *(
            Use(
                f"Spending cap of the personal key {key.label or key.identity}",
                spending_cap.committed(connection, key.id),
                key.spending_cap_micros,
                "What would commit more is refused.",
                True,
            )
            for key in keys
            if key.spending_cap_micros is not None
        ),
    ]


def _things(connection: Connection, org_id: str, user_id: str, live_keys: int) -> list[Use]:
    largest = select(func.coalesce(func.max(audiences.c.valid_count), 0)).where(
        audiences.c.org_id == org_id, audiences.c.deleted_at.is_(None)
    )
    mine = dashboard_sessions.c.user_id == user_id
    hooks = _count(connection, webhooks, webhooks.c.org_id == org_id, webhooks.c.deleted_at.is_(None))
    return [
        Use("Active API keys", live_keys, accounts.MAX_ACTIVE_KEYS, "Another one is refused until one is revoked."),
        Use("Webhooks", hooks, MOST_SUBSCRIPTIONS, "Another one is refused until one is deleted."),
        Use(
            "Providers of your own",
            _count(connection, providers, providers.c.org_id == org_id),
            MOST_PROVIDERS,
            "Another one is refused until one is deleted.",
        ),
        Use(
            "People in the largest audience",
            connection.execute(largest).scalar_one(),
            MAX_ROWS,
            "Further people are refused; put them into another audience.",
        ),
        Use(
            "Your sessions",
            _count(connection, dashboard_sessions, mine),
            MOST_SESSIONS,
            "A new login ends the one that was not used for longest.",
        ),
    ]


def _count(connection: Connection, table: Table, *conditions: ColumnElement[bool]) -> int:
    return connection.execute(select(func.count()).select_from(table).where(*conditions)).scalar_one()
