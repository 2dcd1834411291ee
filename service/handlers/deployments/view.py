"""How callers see a deployment and its contacts."""

import json
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, Connection, Row, case, literal

from callwright.contract.agents.agents import AgentSnapshot
from callwright.contract.deployments import deployments as contract
from callwright.contract.deployments.contacts import Contact
from callwright.contract.deployments.inbound import Inbound
from callwright.contract.deployments.settings import SETTINGS
from callwright.list_files.name_columns import name_of
from callwright.service.campaigns.pausing import goes
from callwright.service.dialling.agent_snapshot import shown_fields
from callwright.service.dialling.eligibility.campaign_hours import CampaignHours
from callwright.service.dialling.eligibility.evidence import ALLOWED
from callwright.service.dialling.limits import daily_budget
from callwright.service.dialling.limits.caller_id import DAILY_CAP, CallerIds
from callwright.service.dialling.queue import numbers_of
from callwright.service.handlers import revisions
from callwright.service.handlers.resources import resource
from callwright.service.platform.clock.clock import moment, moment_or_none
from callwright.service.platform.database.sqlite.disk_space import REASON
from callwright.service.platform.money import micros, money
from callwright.service.tables.audience_prices import prices_of
from callwright.service.tables.campaign_settings import settings_of
from callwright.service.tables.counters import stats_of
from callwright.service.tables.schema import deployments

_D = deployments.c
DAILY_BUDGET_CAP = "daily_budget_cap"
"""The rule by which a campaign has spent its money of 24 hours."""


def shown_status(full_at_ms: int | None) -> ColumnElement[str]:
    """The status that `to_resource` shows, as an SQL expression."""
    if full_at_ms is None:
        return _D.status
    return case((goes(literal(full_at_ms, BigInteger)), literal("paused")), else_=_D.status)


def to_resource(row: Row[Any], *, connection: Connection, full_at_ms: int | None = None) -> contract.Deployment:
    """A deployment as callers see it.

    `full_at_ms` is the time at which the disk is full. Then a campaign that is active, or should have started by then,
    is shown as paused even before its row says so.
    """
    halted = (
        full_at_ms is not None
        and row.call_type == "outbound"
        and (row.status == "active" or (row.status == "scheduled" and row.start_at <= full_at_ms))
    )
    return resource(
        contract.Deployment,
        row,
        status="paused" if halted else row.status,
        status_reason=REASON if halted else row.status_reason,
        stats=stats_of(row),
        revision=revisions.of_deployment(row),
        inbound=None if row.inbound is None else Inbound.model_validate_json(row.inbound),
        **_of_its_kind(row, connection, halted=halted),
    )


def _of_its_kind(row: Row[Any], connection: Connection, *, halted: bool) -> dict[str, Any]:
    if row.call_type == "outbound":
        return _campaign(row, connection, halted=halted)
    return _NO_CAMPAIGN | _kept_agent(row)


_NO_CAMPAIGN: dict[str, Any] = dict.fromkeys(("agent_snapshot", "audience_id", *SETTINGS))


def _campaign(row: Row[Any], connection: Connection, *, halted: bool) -> dict[str, Any]:
    """The fields that only a campaign has and that are not columns of their names."""
    cap, settings = row.budget_cap_micros, settings_of(row)
    daily = settings.daily_budget_cap
    return {
        **dict(settings),
        "daily_budget_cap": None if daily is None else money(micros(daily.amount)),
        **_kept_agent(row),
        "budget_cap": None if cap is None else money(cap),
        **({} if halted else _next_dial(row, connection)),
        "clock": moment_or_none(row.clock_ms),
    }


def _next_dial(row: Row[Any], connection: Connection) -> dict[str, Any]:
    """When the next contact may be called: not before the deployment's own clock, and when the rules allow it. And the
    rule that decides that moment; none for a retry, which the retry policy has put there."""
    if row.soonest_at is None:
        return {}
    at_ms = max(row.soonest_at, row.clock_ms)
    rule = row.soonest_rule if row.soonest_at > row.clock_ms and row.soonest_rule != ALLOWED else None
    if settings_of(row).daily_budget_cap is not None:
        held_back = prices_of(connection, row).dearest.held_back
        by_budget_ms = daily_budget.first_dial_ms(connection, row, at_ms, held_back)
        at_ms, rule = by_budget_ms, rule if by_budget_ms == at_ms else DAILY_BUDGET_CAP
    numbers = numbers_of(connection, row.id)
    if numbers:
        free_ms = CallerIds.read(connection, numbers, at_ms, 0).first_free(at_ms)
        at_ms, rule = free_ms, rule if free_ms == at_ms else DAILY_CAP
    hours = CampaignHours.of(connection, row)
    person = (row.soonest_phone, row.soonest_timezone, row.soonest_cells)
    found_ms = hours.next_call_ms(*person, at_ms, row.end_at)
    if found_ms is not None and found_ms > at_ms:
        rule = hours.of_person(*person).forbidding(at_ms) or rule
    return {"next_dial_at": moment_or_none(found_ms), "waits_for": None if found_ms is None else rule}


def _kept_agent(row: Row[Any]) -> dict[str, Any]:
    """The agent as it was when the deployment started, and its version; nothing before."""
    if row.agent_snapshot is None:
        return {"agent_snapshot": None}
    kept = json.loads(row.agent_snapshot)
    shown = {**shown_fields(kept), "name": kept["name"], "agent_updated_at": moment(kept["agent_updated_at"])}
    return {"agent_snapshot": AgentSnapshot.model_validate(shown), "agent_version": kept.get("version")}


def show_contact(row: Row[Any], campaign: Row[Any], hours: CampaignHours) -> Contact:
    """A contact as callers see it. `row` has the person's `timezone`, `external_id` and `cells` too."""
    values, next_attempt_at = json.loads(row.cells or "{}"), moment_or_none(_next_attempt_ms(row, campaign, hours))
    name = name_of(values)
    return resource(Contact, row, phone_number=row.phone, name=name, next_attempt_at=next_attempt_at, values=values)


def _next_attempt_ms(row: Row[Any], campaign: Row[Any], hours: CampaignHours) -> int | None:
    """When a waiting contact is called at the earliest, by the hours as they are now.

    None for a contact that does not wait or is never called, and until a changed retry policy has decided its time.
    """
    waits = row.status in ("pending", "retry_waiting") and campaign.status in ("active", "paused")
    if not waits or row.due_at is None:
        return None
    at_ms = max(row.next_at, campaign.clock_ms)
    return hours.next_call_ms(row.phone, row.timezone, row.cells, at_ms, campaign.end_at)
