"""How callers see a deployment and its contacts."""

import json
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, Row, case, literal

from callwright.contract.agents import AgentSnapshot
from callwright.contract.deployments import deployments as contract
from callwright.contract.deployments.contacts import Contact
from callwright.contract.deployments.inbound import Inbound
from callwright.contract.deployments.settings import SETTINGS
from callwright.service.campaigns.pausing import goes
from callwright.service.dialling.eligibility.gate import next_call_ms
from callwright.service.handlers import revisions
from callwright.service.platform.clock.clock import moment, moment_or_none
from callwright.service.platform.database.sqlite.fullness import REASON
from callwright.service.platform.money import money
from callwright.service.tables.campaign_settings import settings_of
from callwright.service.tables.counters import stats_of
from callwright.service.tables.schema import deployments

_D = deployments.c


def shown_status(full_at_ms: int | None) -> ColumnElement[str]:
    """The status that `show` gives, for the database to compare."""
    if full_at_ms is None:
        return _D.status
    return case((goes(literal(full_at_ms, BigInteger)), literal("paused")), else_=_D.status)


def show(row: Row[Any], *, full_at_ms: int | None = None) -> contract.Deployment:
    """A deployment as callers see it.

    Where the disk is full, at the moment `full_at_ms`, a campaign that runs or whose moment has come is paused, even
    before that is stored.
    """
    halted = (
        full_at_ms is not None
        and row.call_type == "outbound"
        and (row.status == "active" or (row.status == "scheduled" and row.start_at <= full_at_ms))
    )
    return contract.Deployment(
        id=row.id,
        created_at=moment(row.created_at),
        updated_at=moment(row.updated_at),
        created_by_key_id=row.created_by_key_id,
        name=row.name,
        call_type=row.call_type,
        status="paused" if halted else row.status,
        status_reason=REASON if halted else row.status_reason,
        status_changed_at=moment(row.status_changed_at),
        simulated=row.simulated,
        agent_id=row.agent_id,
        phone_number_ids=json.loads(row.phone_number_ids),
        max_concurrency=row.max_concurrency,
        stats=stats_of(row),
        started_at=moment_or_none(row.started_at),
        completed_at=moment_or_none(row.completed_at),
        revision=revisions.of_deployment(row),
        metadata=json.loads(row.metadata),
        inbound=None if row.inbound is None else Inbound.model_validate_json(row.inbound),
        **(_campaign(row, halted=halted) if row.call_type == "outbound" else _NO_CAMPAIGN),
    )


_NO_CAMPAIGN: dict[str, Any] = dict.fromkeys(("audience_id", *SETTINGS))


def _campaign(row: Row[Any], *, halted: bool) -> dict[str, Any]:
    """What only a campaign has."""
    cap = row.budget_cap_micros
    return {
        "agent_snapshot": snapshot_of(row),
        "audience_id": row.audience_id,
        "start_at": moment_or_none(row.start_at),
        "end_at": moment_or_none(row.end_at),
        **dict(settings_of(row)),
        "budget_cap": None if cap is None else money(cap),
        "next_dial_at": None if halted else moment_or_none(_next_dial_ms(row)),
        "clock": moment_or_none(row.clock_ms),
        "plan_id": row.plan_id,
    }


def _next_dial_ms(row: Row[Any]) -> int | None:
    """When whoever is looked at next may be called: not before the deployment's own clock, and inside the hours."""
    if row.soonest_at is None:
        return None
    at_ms = max(row.soonest_at, row.clock_ms)
    return next_call_ms(settings_of(row).calling_hours, row.soonest_timezone, row.soonest_phone, at_ms, row.end_at)


def snapshot_of(row: Row[Any]) -> AgentSnapshot | None:
    """The agent as it was at the start, once there was one."""
    if row.agent_snapshot is None:
        return None
    kept = json.loads(row.agent_snapshot)
    return AgentSnapshot.model_validate({**kept, "agent_updated_at": moment(kept["agent_updated_at"])})


def show_contact(row: Row[Any], campaign: Row[Any]) -> Contact:
    """A contact as callers see it. `row` has the person's `timezone` and `cells` too."""
    return Contact(
        id=row.id,
        deployment_id=row.deployment_id,
        phone_number=row.phone,
        status=row.status,
        status_reason=row.status_reason,
        attempts=row.attempts,
        last_outcome=row.last_outcome,
        last_disposition=row.last_disposition,
        last_call_id=row.last_call_id,
        next_attempt_at=moment_or_none(_next_attempt_ms(row, campaign)),
        values=json.loads(row.cells or "{}"),
    )


def _next_attempt_ms(row: Row[Any], campaign: Row[Any]) -> int | None:
    """When somebody who waits is called at the earliest, by the hours as they are now: what is kept of it may be older.

    None for nobody who waits, for never, and while it is still to be decided by a retry policy that was changed.
    """
    waits = row.status in ("pending", "retry_waiting") and campaign.status in ("active", "paused")
    if not waits or row.due_at is None:
        return None
    at_ms = max(row.next_at, campaign.clock_ms)
    return next_call_ms(settings_of(campaign).calling_hours, row.timezone, row.phone, at_ms, campaign.end_at)
