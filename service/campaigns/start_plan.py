"""The parts of a plan: everything that decides who is called, what they hear, when, and what it costs."""

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from pydantic import BaseModel
from sqlalchemy import Connection, Row, Select, bindparam, select

from callwright.contract.deployments.settings import CampaignSettings
from callwright.contract.problems import PLAN_EXPIRED, PLAN_REQUIRED, PLAN_STALE
from callwright.service.dialling.agent_snapshot import SNAPSHOT
from callwright.service.dialling.eligibility.do_not_call import removals
from callwright.service.platform.clock.clock import MINUTE, SECOND
from callwright.service.platform.refusals import Refusal
from callwright.service.rules.plan_id import PARTS, VALID_MS, Part, StartPlan, contents, part_fingerprint
from callwright.service.rules.provider_choice import CHOICE
from callwright.service.tables.audience_prices import AudiencePrices, prices_of
from callwright.service.tables.campaign_settings import settings_of
from callwright.service.tables.rules_files import rules_of_deployment
from callwright.service.tables.schema import imports, phone_numbers

_I, _N = imports.c, phone_numbers.c
_IMPORTING = (
    select(_I.id).where(_I.audience_id == bindparam("audience"), _I.completed_at.is_(None)).order_by(_I.id).limit(100)
)
_NUMBERS: Select[*tuple[Any, ...]] = select(_N.id, _N.number, _N.status, _N.max_calls_per_day).where(
    _N.id.in_(bindparam("ids", expanding=True))
)
_NAMES: dict[Part, tuple[str, bool]] = {
    "audience": ("the audience", False),
    "do_not_call": ("the do-not-call list", False),
    "agent": ("the agent", False),
    "numbers": ("the phone numbers", True),
    "window": ("the calling times", True),
    "retries": ("the retry policy", False),
    "cap": ("the budget cap", False),
    "settings": ("the call settings", True),
    "prices": ("the prices", True),
    "progress": ("the deployment's state", False),
}
"""The name of each part in a sentence, and whether it is a plural."""
_LATER = ("consent_attested", "consent_reference")
"""Fields of compliance that earlier versions did not have."""
_LATER_RETRIES = ("intervals_by_reason", "parts_of_day")
"""Fields of the retry policy that earlier versions did not have."""
_AGENT = ("name", *SNAPSHOT, "version")
"""What a plan holds of the agent."""
_NAMED = {
    *("calling_hours", "retry_policy", "voicemail", "compliance", "ring_timeout_seconds"),
    *("max_call_duration_seconds", "caller_id_strategy", "calls_per_second"),
}
"""The settings that are in a part by name."""


def numbers_in_order(connection: Connection, row: Row[Any]) -> list[Row[Any]]:
    """The deployment's numbers in their order, in every status."""
    ids: list[str] = json.loads(row.phone_number_ids)
    found = {number.id: number for number in connection.execute(_NUMBERS, {"ids": ids})}
    return [found[number_id] for number_id in ids if number_id in found]


def open_imports(connection: Connection, audience_id: str) -> list[str]:
    """The ids of imports into an audience that have not ended. People they add will be called too."""
    return list(connection.execute(_IMPORTING, {"audience": audience_id}).scalars())


def parts_of(
    connection: Connection,
    row: Row[Any],
    *,
    audience: Row[Any],
    agent: Mapping[str, Any],
    numbers: Sequence[Row[Any]] | None = None,
) -> dict[Part, bytes]:
    """The fingerprint of each part as it is now. `agent` are the fields of the agent that the deployment keeps or would
    keep; `numbers` are those of the deployment, if they were read before.

    Rows of an audience are only added, never changed, and `row_count` counts each, so the counters represent the rows.
    Of the do-not-call list only removals matter: after an addition fewer people are called, which needs no consent.
    """
    paused_at = row.status_changed_at if row.status == "paused" else None
    settings = settings_of(row)
    known = numbers_in_order(connection, row) if numbers is None else numbers
    shown = [(number.id, number.number, number.status) for number in known]
    facts: dict[Part, Any] = {
        "audience": [
            *(audience.id, audience.row_count, audience.valid_count, audience.last_imported_at, audience.columns),
            open_imports(connection, audience.id),
        ],
        "do_not_call": removals(connection, row.org_id),
        "agent": [row.agent_id, {name: agent.get(name) for name in _AGENT if _matters(name, agent)}],
        "numbers": [row.phone_number_ids, shown],
        "window": [
            *(row.start_at, row.end_at, _json(settings.calling_hours)),
            rules_of_deployment(connection, row).version,
        ],
        "retries": _unless_default(settings.retry_policy, _LATER_RETRIES),
        "cap": row.budget_cap_micros,
        "settings": [
            *(_json(settings.voicemail), _unless_default(settings.compliance, _LATER), settings.ring_timeout_seconds),
            *(settings.max_call_duration_seconds, settings.caller_id_strategy, row.max_concurrency),
            *(settings.calls_per_second, bool(row.simulated)),
            *_further(settings),
        ],
        "prices": _prices(prices_of(connection, row, agent)),
        "progress": [row.status, paused_at],
    }
    return {part: part_fingerprint(part, facts[part]) for part in PARTS}


def _prices(prices: AudiencePrices) -> list[int]:
    """The prices of the plan's calls; of one country with one price they are two numbers, as in earlier versions."""
    found = dict.fromkeys((prices.dearest, prices.cheapest))
    return [micros for price in found for micros in (price.minute, price.held_back)]


def _json(part: BaseModel | None) -> str | None:
    return None if part is None else part.model_dump_json()


def _matters(name: str, agent: Mapping[str, Any]) -> bool:
    """A plan of before agents could name providers or have tools still fits one that has none, and one of before
    versions fits the first."""
    if name == "version":
        return (agent.get(name) or 1) > 1
    return name not in (*CHOICE, "call_tools") or agent.get(name) is not None


def _unless_default(part: BaseModel, later: Collection[str]) -> str:
    """The fields; of those that earlier versions did not have, the ones that are set. Without, earlier plans hold."""
    unset = {name for name in later if getattr(part, name) == type(part).model_fields[name].default}
    return part.model_dump_json(exclude=unset)


def _further(settings: CampaignSettings) -> list[Any]:
    """Settings that earlier versions did not have, if they are set. Without them, plans of earlier versions hold."""
    further = settings.model_dump(mode="json", exclude=_NAMED, exclude_defaults=True)
    return [further] if further else []


def plan_of(parts: Mapping[Part, bytes], now_ms: int) -> StartPlan:
    """A plan of these parts, valid for 15 minutes from now."""
    return StartPlan((now_ms + VALID_MS) // SECOND, parts)


def check_plan(plan: StartPlan, now: Mapping[Part, bytes], now_ms: int) -> None:
    """Raises `Refusal`: plan_expired, or plan_stale with the parts that have changed."""
    # A plan that is valid for too long was made while the clock was ahead.
    if not now_ms < plan.valid_until_s * SECOND <= now_ms + VALID_MS + MINUTE:
        raise Refusal(PLAN_EXPIRED)
    if changed := plan.changed(now):
        raise _stale(changed)


def plan_violations(
    connection: Connection, row: Row[Any], *, audience: Row[Any], agent: Mapping[str, Any]
) -> list[Refusal]:
    """Why a scheduled deployment may not start now: it has changed since somebody accepted its plan.

    On the simulated network no plan is needed.
    """
    if row.plan_id is None:
        return [] if row.simulated else [Refusal(PLAN_REQUIRED)]
    agreed = contents(row.plan_id)
    now = parts_of(connection, row, audience=audience, agent=agent)
    del now["progress"]  # the start with this plan changed it from draft to scheduled
    changed = list(now) if agreed is None else agreed.changed(now)
    return [_stale(changed)] if changed else []


def _stale(changed: Sequence[Part]) -> Refusal:
    names = [_NAMES[part][0] for part in changed]
    several = len(changed) > 1 or _NAMES[changed[0]][1]
    listed = f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]
    message = f"{listed} {'have' if several else 'has'} changed since the preview"
    return Refusal(PLAN_STALE, message, details={"changed": list(changed)})
