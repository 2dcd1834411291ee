"""The reasons for which a deployment cannot start."""

import json
from typing import Any

from sqlalchemy import Connection, Row, bindparam, func, select

from callwright.contract.checks.counts import count_of
from callwright.contract.problems import (
    AUDIENCE_IMPORTING,
    AUDIENCE_NOT_READY,
    BUDGET_REACHED,
    COMPLIANCE_REJECTED,
    INSUFFICIENT_CREDITS,
    PLAN_LIMIT_REACHED,
    WALLET_FROZEN,
)
from callwright.service.campaigns.compliance_checks import compliance_refusals, consent_refusal
from callwright.service.campaigns.missing_carrier import missing_carrier
from callwright.service.campaigns.outlook import Outlook, outlook
from callwright.service.campaigns.start_plan import open_imports, plan_violations
from callwright.service.dialling.eligibility.consent import consent_column
from callwright.service.dialling.eligibility.gate import NO_CONSENT
from callwright.service.dialling.eligibility.reasons import of_audience
from callwright.service.dialling.limits.daily_budget import cap_of
from callwright.service.dialling.queue import Rules
from callwright.service.platform.clock.clock import moment
from callwright.service.platform.money import amount
from callwright.service.platform.phone import redacted
from callwright.service.platform.refusals import Refusal, not_found
from callwright.service.rules.call_tools import columns_in
from callwright.service.rules.open_hours import CALLING_HOURS as HOURS_RULE
from callwright.service.rules.organization_plans import PricePlan
from callwright.service.rules.templates import Columns, nearest_column, variables_in
from callwright.service.settings import ServiceSettings
from callwright.service.tables.audience_prices import prices_of
from callwright.service.tables.campaign_settings import settings_of
from callwright.service.tables.import_uploads import LONGEST_IMPORT_MS
from callwright.service.tables.ledger import FROZEN, wallet_of
from callwright.service.tables.schema import audiences, deployments, imports, phone_numbers
from callwright.service.telephony.engine import AgentSnapshot

_D = deployments.c
COUNTED = ("scheduled", "active", "paused")
"""States in which a campaign counts for the plan's limit."""
_RUNNING = select(func.count()).where(
    _D.org_id == bindparam("org"), _D.call_type == "outbound", _D.status.in_(COUNTED), _D.id != bindparam("but")
)
_MOST_COLUMNS = 12
_AUDIENCE = select(audiences).where(audiences.c.id == bindparam("id"))
_IMPORT = select(imports.c.id, imports.c.status, imports.c.upload_expires_at, imports.c.created_at).where(
    imports.c.id == bindparam("id")
)
_NEWEST_IMPORT = (
    select(imports.c.id, imports.c.status, imports.c.status_reason)
    .where(imports.c.audience_id == bindparam("id"))
    .order_by(imports.c.created_at.desc(), imports.c.id.desc())
    .limit(1)
)


def audience_of(connection: Connection, audience_id: str, *, lock: bool = False) -> Row[Any]:
    """The deployment's audience. Raises `Refusal`: not_found when it was deleted.

    With `lock` it waits for rows that are being added, and none is added before this transaction ends.
    """
    statement = _AUDIENCE.with_for_update(read=True) if lock else _AUDIENCE
    row = connection.execute(statement, {"id": audience_id}).one_or_none()
    if row is None:
        raise not_found("audience_id")
    return row


def still_importing(connection: Connection, audience_id: str) -> Refusal | None:
    """The refusal while imports into an audience have not ended; None without such imports."""
    waiting = open_imports(connection, audience_id)
    if not waiting:
        return None
    first = connection.execute(_IMPORT, {"id": waiting[0]}).one()
    more = f" and {len(waiting) - 1} more have" if len(waiting) > 1 else " has"
    message = f"import {first.id}{more} not ended: it is not known yet how many people there will be. "
    if first.status == "uploading":
        message += (
            f"It waits for its file until {moment(first.upload_expires_at):%Y-%m-%d %H:%M} UTC and then fails; send "
            "the file, or end the import with DELETE at its upload_url, or on the page of the audience"
        )
    else:
        ends_ms = first.created_at + LONGEST_IMPORT_MS
        message += (
            f"It is under way, and fails if it has not ended by {moment(ends_ms):%Y-%m-%d %H:%M} UTC; "
            "get_audience_import says how far it is"
        )
    return Refusal(AUDIENCE_IMPORTING, message, details={"imports": waiting})


def missing_columns(agent: Any, audience: Row[Any], voicemail_message: str) -> list[str]:
    """Template variables for which the audience has no column at all."""
    columns = Columns({column["name"] for column in json.loads(audience.columns)})
    wanted = (
        *variables_in(agent.welcome_message),
        *variables_in(agent.system_prompt),
        *variables_in(voicemail_message),
        *columns_in(agent.call_tools),
    )
    return [name for name in dict.fromkeys(wanted) if columns.find(name) is None]


def missing_column_said(name: str, audience: Row[Any]) -> str:
    """That an audience has no column for a placeholder, with the column whose name is most like it."""
    known = [column["name"] for column in json.loads(audience.columns)]
    near = nearest_column(name, known)
    hint = "" if near is None else f"; the nearest is {near!r}: write {{{{{near}}}}}"
    return f"the audience has no column {name!r} for the variable {{{{{name}}}}}{hint}"


def start_refusals(
    connection: Connection,
    plan: PricePlan,
    row: Row[Any],
    agent: AgentSnapshot,
    *,
    settings: ServiceSettings,
    now_ms: int,
    asked: bool = False,
    view: Outlook | None = None,
) -> list[Refusal]:
    """The refusals of a start now, the most important first; empty when it may start. `plan` is the price plan.

    `asked`: a request starts it, and the caller has checked its plan. Otherwise a scheduled deployment starts by
    itself, and the plan that it was scheduled with is checked here. `view` is the outlook of a preview, which locks
    nothing. Without it the start follows in the same transaction, so the audience is locked against imports.
    """
    found: list[Refusal] = []
    # Adding rows locks the audience before its deployments, so a deployment that has started must not wait for it.
    audience = audience_of(connection, row.audience_id, lock=view is None and row.started_at is None)
    if waiting := still_importing(connection, audience.id):
        found.append(waiting)
    found += compliance_refusals(connection, row)
    if not asked:
        found += plan_violations(connection, row, audience=audience, agent=json.loads(row.agent_snapshot))
    if not audience.valid_count or audience.status == "importing":
        found.append(Refusal(AUDIENCE_NOT_READY, _why_nobody(connection, audience)))
    elif unknown := _unknown_consent_column(row, audience):
        found.append(unknown)
    elif missing := missing_columns(agent, audience, settings_of(row).voicemail.message_template):
        found.append(
            Refusal(
                AUDIENCE_NOT_READY,
                missing_column_said(missing[0], audience),
                details={"missing_columns": missing},
            )
        )
    numbers = select(phone_numbers.c.id).where(
        phone_numbers.c.id.in_(json.loads(row.phone_number_ids)), phone_numbers.c.status == "active"
    )
    if not connection.execute(numbers).first():
        found.append(not_found("phone_number_ids"))
    if no_carrier := missing_carrier(connection, row, settings):
        found.append(no_carrier)
    held_back = prices_of(connection, row, {"call_tools": agent.call_tools}).dearest.held_back
    if used_up := _budget_reached(row, held_back):
        found.append(used_up)
    if too_low := _daily_cap_too_low(row, held_back):
        found.append(too_low)
    wallet = wallet_of(connection, row.org_id)
    if wallet.status == FROZEN:
        found.append(Refusal(WALLET_FROZEN))
    available = wallet.balance_micros - wallet.reserved_micros
    if available < held_back:
        details = {"required": amount(held_back), "available": amount(available)}
        found.append(Refusal(INSUFFICIENT_CREDITS, details=details))
    limit = plan.concurrent_deployments
    running = connection.execute(_RUNNING, {"org": row.org_id, "but": row.id}).scalar_one()
    if limit is not None and running >= limit:
        message = f"the plan {plan.name} allows {count_of(limit, 'deployment')} at a time"
        found.append(Refusal(PLAN_LIMIT_REACHED, message, details={"limit": limit, "current": running}))
    if view is None and not found:
        view = outlook(connection, Rules.of(connection, row, agent), now_ms=now_ms)
    return found if view is None else [*found, *_nobody(connection, row, view, found, now_ms)]


def _nobody(connection: Connection, row: Row[Any], view: Outlook, found: list[Refusal], now_ms: int) -> list[Refusal]:
    """The refusal if consent or hours leave nobody. A campaign that has started may end so.

    `found` are the refusals so far: who is told that marketing needs consent is not told it again.
    """
    why = view.forbids_all if view.whole else None
    if why is not None and why.reason == NO_CONSENT:
        told = any(one.field == "compliance" for one in found)
        return [] if told else [consent_refusal(why.rule)]
    if why is not None:
        beside = "" if why.rule == HOURS_RULE else f" together with the rule {why.rule}"
        message = f"calling_hours: they leave nobody a moment within 100 days{beside}; change calling_hours"
        details = {"reasons": [HOURS_RULE], "rule": why.rule}
        return [Refusal(COMPLIANCE_REJECTED, message, field="calling_hours", details=details)]
    if not view.people and row.started_at is None and not found:
        counts = of_audience(connection, row, now_ms)
        return [consent_refusal(consent_column=consent_column(row))] if counts[NO_CONSENT] else []
    first = view.first()
    end_ms: int | None = None if row.started_at is not None else row.end_at
    if first is None or end_ms is None or not view.whole or first.at_ms < end_ms:
        return []
    message = (
        f"end_at: nobody can be called before it; the first call is possible at {moment(first.at_ms):%Y-%m-%d %H:%M} "
        "UTC; set a later end_at"
    )
    return [Refusal(COMPLIANCE_REJECTED, message, field="end_at", details={"reasons": ["end_at"]})]


def _why_nobody(connection: Connection, audience: Row[Any]) -> str:
    """The reason why an audience has nobody who can be called."""
    if audience.status == "importing":
        return "a file is being imported into the audience"
    newest = connection.execute(_NEWEST_IMPORT, {"id": audience.id}).one_or_none()
    if newest is not None and newest.status == "failed":
        return f"the audience has no rows: its import {newest.id} failed: {newest.status_reason}"
    if audience.row_count:
        return f"the audience has no row that can be called: all {audience.row_count:,} that it was given were refused"
    return "the audience has no rows yet"


def _unknown_consent_column(row: Row[Any], audience: Row[Any]) -> Refusal | None:
    """The refusal if the audience does not have the column with the consent."""
    wanted = consent_column(row)
    known = [column["name"] for column in json.loads(audience.columns)]
    if wanted is None or wanted in known:
        return None
    names = ", ".join(repr(redacted(name)) for name in known[:_MOST_COLUMNS]) or "no columns"
    more = f" and {len(known) - _MOST_COLUMNS} more" if len(known) > _MOST_COLUMNS else ""
    message = f"the audience has no column {redacted(wanted)!r} for compliance.consent_column; it has {names}{more}"
    return Refusal(AUDIENCE_NOT_READY, message, details={"missing_columns": [wanted]})


def check_daily_cap(connection: Connection, row: Row[Any]) -> None:
    """Raises `Refusal` if the daily budget cap is too low for one call; without people no price is known yet."""
    audience = audience_of(connection, row.audience_id)
    if not audience.valid_count:
        return
    if too_low := _daily_cap_too_low(row, prices_of(connection, row).dearest.held_back):
        raise too_low


def _daily_cap_too_low(row: Row[Any], required: int) -> Refusal | None:
    """The refusal if the daily budget cap is below what a call holds back, so that no day allows one."""
    cap = cap_of(row)
    if cap is None or cap >= required:
        return None
    message = (
        f"daily_budget_cap: {amount(cap)} USD is less than the {amount(required)} USD that a call holds back, so "
        "nobody would ever be called; raise daily_budget_cap"
    )
    details = {"required": amount(required), "available": amount(cap)}
    return Refusal(BUDGET_REACHED, message, field="daily_budget_cap", details=details)


def _budget_reached(row: Row[Any], required: int) -> Refusal | None:
    """The refusal if the budget allows no further call. Money reserved for calls under way counts as available."""
    if row.budget_cap_micros is None:
        return None
    left = max(0, row.budget_cap_micros - row.spend_micros)
    if left >= required:
        return None
    message = (
        f"budget_reached: the budget cap of {amount(row.budget_cap_micros)} USD leaves {amount(left)} USD and a call "
        f"holds back {amount(required)} USD, so nobody would be called; raise budget_cap"
    )
    details = {"required": amount(required), "available": amount(left)}
    return Refusal(BUDGET_REACHED, message, field="budget_cap", details=details)
