"""The overview of an organization."""

from typing import Any

from sqlalchemy import ColumnElement, Row, Table, bindparam, func, select

from callwright.contract import overview as contract
from callwright.service.handlers.request_context import RequestContext, handles
from callwright.service.handlers.resources import resource
from callwright.service.platform.clock.clock import moment_or_none
from callwright.service.platform.money import money
from callwright.service.tables.compliance_reviews import undecided
from callwright.service.tables.counters import stats_of
from callwright.service.tables.ledger import wallet_of
from callwright.service.tables.schema import agents, audiences, calls, deployments, organizations, phone_numbers

_D = deployments.c
_ORGANIZATION = select(organizations.c.name).where(organizations.c.id == bindparam("org"))
_UNDER_WAY = (
    select(func.count()).select_from(calls).where(calls.c.org_id == bindparam("org"), calls.c.ended_at.is_(None))
)
_REAL_NUMBER = (
    select(phone_numbers.c.id)
    .where(
        phone_numbers.c.org_id == bindparam("org"),
        phone_numbers.c.released_at.is_(None),
        phone_numbers.c.simulated.is_(False),
    )
    .limit(1)
)
_WAITING = ("pending", "in_flight", "retry_waiting")


@handles(contract.get_overview)
def get_overview(asked: contract.GetOverview, context: RequestContext) -> contract.Overview:
    """What the organization has and what is under way. It reads a few rows of each kind, however many there are."""
    wallet, plan = wallet_of(context.connection, context.org_id), context.plan
    live, there = phone_numbers.c.released_at.is_(None), audiences.c.deleted_at.is_(None)
    return contract.Overview(
        organization=_one(context, _ORGANIZATION),
        network="real" if context.connection.execute(_REAL_NUMBER, {"org": context.org_id}).first() else "simulated",
        agents=contract.OverviewAgents(
            total=_total(context, agents),
            newest=[resource(contract.OverviewAgent, row) for row in _newest(context, agents)],
        ),
        audiences=contract.OverviewAudiences(
            total=_total(context, audiences, there),
            newest=[
                resource(contract.OverviewAudience, row, people=row.valid_count)
                for row in _newest(context, audiences, there)
            ],
        ),
        phone_numbers=contract.OverviewNumbers(
            total=_total(context, phone_numbers, live),
            newest=[
                resource(contract.OverviewNumber, row, answered_by=row.inbound_deployment_id)
                for row in _newest(context, phone_numbers, live)
            ],
        ),
        deployments=_deployments(context),
        calls_under_way=_one(context, _UNDER_WAY),
        undecided_reviews=undecided(context.connection, context.org_id),
        wallet=contract.OverviewWallet(
            available=money(wallet.balance_micros - wallet.reserved_micros),
            reserved=money(wallet.reserved_micros),
            low_balance=wallet.low,
            play_money=wallet.play_money,
        ),
        limits=contract.OverviewLimits(
            plan=plan.name,
            concurrent_deployments=plan.concurrent_deployments,
            concurrent_calls=plan.concurrent_calls,
            reserved_inbound_concurrency=plan.reserved_inbound_concurrency or None,
            requests_per_second=plan.requests_per_second,
            recording_retention_days=plan.recording_retention_days,
        ),
    )


def _deployments(context: RequestContext) -> contract.OverviewDeployments:
    active = _newest(context, deployments, _D.status == "active")
    both = {row.id: row for row in (*active, *_newest(context, deployments))}
    shown = list(both.values())[: contract.MOST_SHOWN]
    agent_names = _names(context, agents, {row.agent_id for row in shown})
    audience_names = _names(context, audiences, {row.audience_id for row in shown})
    return contract.OverviewDeployments(
        total=_total(context, deployments),
        running=_total(context, deployments, _D.status == "active"),
        shown=[_deployment(row, agent_names.get(row.agent_id), audience_names.get(row.audience_id)) for row in shown],
    )


def _names(context: RequestContext, table: Table, ids: set[str]) -> dict[str, str]:
    own = select(table.c.id, table.c.name).where(table.c.org_id == context.org_id, table.c.id.in_(ids))
    return {row.id: row.name for row in context.connection.execute(own)}


def _deployment(row: Row[Any], agent: str | None, audience: str | None) -> contract.OverviewDeployment:
    stats = stats_of(row)
    return resource(
        contract.OverviewDeployment,
        row,
        spend=stats.spend,
        agent=agent,
        audience=audience,
        reached=stats.completed,
        ended=row.contacts - sum(getattr(stats, state) for state in _WAITING),
        next_start=moment_or_none(row.start_at) if row.status == "scheduled" else None,
    )


def _newest(context: RequestContext, table: Table, *conditions: ColumnElement[bool]) -> list[Row[Any]]:
    own = select(table).where(table.c.org_id == context.org_id, *conditions)
    newest = own.order_by(table.c.created_at.desc(), table.c.id.desc()).limit(contract.MOST_SHOWN)
    return list(context.connection.execute(newest).all())


def _total(context: RequestContext, table: Table, *conditions: ColumnElement[bool]) -> int:
    own = select(func.count()).select_from(table).where(table.c.org_id == context.org_id, *conditions)
    return context.connection.execute(own).scalar_one()


def _one(context: RequestContext, statement: Any) -> Any:
    return context.connection.execute(statement, {"org": context.org_id}).scalar_one()
