"""What stands between a deployment and its start, and what a preview says about it."""

import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Row, bindparam, func, select

from callwright.contract import deployments as contract
from callwright.contract.dialling import Compliance, RetryPolicy
from callwright.contract.problems import AUDIENCE_NOT_READY, INSUFFICIENT_CREDITS, PLAN_LIMIT_REACHED
from callwright.service.domain.money import PRICES, amount, money
from callwright.service.domain.plans import Plan
from callwright.service.domain.refusals import Refusal, not_found
from callwright.service.domain.templates import render, variables_in
from callwright.service.engine.call_engine import AgentSnapshot
from callwright.service.storage.ledger import wallet_of
from callwright.service.storage.schema import audience_rows, audiences, deployments, phone_numbers

from .intake import consented

_D, _R = deployments.c, audience_rows.c
_COUNTED = ("scheduled", "active", "paused")
_RUNNING = select(func.count()).where(_D.org_id == bindparam("org"), _D.status.in_(_COUNTED), _D.id != bindparam("but"))
_TYPICAL_CALL_S = 40


def audience_of(connection: Connection, audience_id: str) -> Row[Any]:
    """The deployment's audience. Raises `Refusal`: not_found when it was deleted."""
    statement = select(audiences).where(audiences.c.id == audience_id)
    row = connection.execute(statement).one_or_none()
    if row is None:
        raise not_found("audience_id")
    return row


def missing_columns(agent: Any, audience: Row[Any], voicemail_message: str) -> list[str]:
    """Template variables for which the audience has no column at all."""
    known = {column["name"] for column in json.loads(audience.columns)}
    wanted = (
        *variables_in(agent.welcome_message),
        *variables_in(agent.system_prompt),
        *variables_in(voicemail_message),
    )
    return [name for name in dict.fromkeys(wanted) if name not in known]


def start_refusals(connection: Connection, plan: Plan, row: Row[Any], agent: Any) -> list[Refusal]:
    """Everything that forbids the start now, worst first; empty when it may start."""
    found: list[Refusal] = []
    audience = audience_of(connection, row.audience_id)
    if not audience.valid_count or audience.status == "importing":
        found.append(Refusal(AUDIENCE_NOT_READY))
    elif missing := missing_columns(agent, audience, json.loads(row.voicemail)["message_template"]):
        found.append(
            Refusal(
                AUDIENCE_NOT_READY,
                f"the audience has no column {missing[0]!r} for the variable {{{{{missing[0]}}}}}",
                details={"missing_columns": missing},
            )
        )
    numbers = select(phone_numbers.c.id).where(
        phone_numbers.c.id.in_(json.loads(row.phone_number_ids)), phone_numbers.c.status == "active"
    )
    if not connection.execute(numbers).first():
        found.append(not_found("phone_number_ids"))
    wallet = wallet_of(connection, row.org_id)
    available = wallet.balance_micros - wallet.reserved_micros
    if available < PRICES.reservation():
        details = {"required": amount(PRICES.reservation()), "available": amount(available)}
        found.append(Refusal(INSUFFICIENT_CREDITS, details=details))
    limit = plan.concurrent_deployments
    running = connection.execute(_RUNNING, {"org": row.org_id, "but": row.id}).scalar_one()
    if limit is not None and running >= limit:
        message = f"the plan {plan.name} allows {limit} deployments at a time"
        found.append(Refusal(PLAN_LIMIT_REACHED, message, details={"limit": limit, "current": running}))
    return found


def preview(connection: Connection, plan: Plan, row: Row[Any], agent: AgentSnapshot) -> contract.Preview:
    """Who would be called, the greeting and the cost. Reads only; nobody is dialled and nothing is charged."""
    audience = audience_of(connection, row.audience_id)
    compliance = Compliance.model_validate_json(row.compliance)
    policy = RetryPolicy.model_validate_json(row.retry_policy)
    blocked: list[contract.Blocked] = []
    eligible: int = audience.valid_count
    if compliance.consent_column is not None:
        agreed = select(func.count()).where(
            _R.audience_id == audience.id, consented(connection, compliance.consent_column)
        )
        eligible = connection.execute(agreed).scalar_one()
        blocked.append(contract.Blocked(reason="no_consent", count=audience.valid_count - eligible))
    for reason, count in (("invalid_row", audience.invalid_count), ("duplicate", audience.duplicate_count)):
        if count:
            blocked.append(contract.Blocked(reason=reason, count=count))
    wallet = wallet_of(connection, row.org_id)
    available = wallet.balance_micros - wallet.reserved_micros
    low, high = eligible // 5 * PRICES.call(30), eligible * PRICES.call(120)
    if row.budget_cap_micros is not None:
        low, high = min(low, row.budget_cap_micros), min(high, row.budget_cap_micros)
    pace = min(row.calls_per_second, row.max_concurrency / _TYPICAL_CALL_S)
    return contract.Preview(
        deployment_id=row.id,
        simulated=row.simulated,
        eligible=eligible,
        blocked=blocked,
        missing_variables=_missing(agent, audience),
        greeting=_greeting(connection, agent, audience.id),
        cost=contract.CostRange(
            low=money(low),
            high=money(high),
            available=money(available),
            covered=available >= high,
            basis="low: one contact in five talks for half a minute; high: every contact talks for two minutes",
        ),
        max_attempts=policy.max_attempts,
        estimated_minutes=round(eligible / pace / 60, 1),
        problems=[refusal.message for refusal in start_refusals(connection, plan, row, agent)],
        warnings=_warnings(agent),
    )


def _missing(agent: AgentSnapshot, audience: Row[Any]) -> list[contract.MissingVariable]:
    filled = {column["name"]: column["filled"] for column in json.loads(audience.columns)}
    wanted: Sequence[str] = (*variables_in(agent.welcome_message), *variables_in(agent.system_prompt))
    counts = ((name, audience.valid_count - filled.get(name, 0)) for name in dict.fromkeys(wanted))
    return [contract.MissingVariable(name=name, contacts=count) for name, count in counts if count]


def _greeting(connection: Connection, agent: AgentSnapshot, audience_id: str) -> str:
    first = select(_R.cells).where(_R.audience_id == audience_id).order_by(_R.position).limit(1)
    cells = connection.execute(first).scalar()
    return render(agent.welcome_message, json.loads(cells or "{}")).text


def _warnings(agent: AgentSnapshot) -> list[str]:
    if not agent.welcome_message.strip():
        return ["the agent has no welcome message: the contact speaks first"]
    return []
