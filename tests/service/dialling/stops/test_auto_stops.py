"""Campaigns that pause because their calls fail, or because people heard nobody."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from callwright.contract.deployments.deployments import Deployment
from callwright.contract.deployments.dialling import CircuitBreaker
from callwright.service.telephony.engine import CallRequest, CallResult, EngineParts
from callwright.service.telephony.simulated.engine import SimulatedEngine
from tests.support.campaigns import ONCE, audience_of, draft, driver_of, lease, people, phone, started
from tests.support.resources import refusal
from tests.support.service import Tenant

TALKS: dict[str, Any] = {"sim_outcome": "answered", "sim_intent": "yes"}
ONE_LINE: dict[str, Any] = {"max_concurrency": 1, "retry_policy": ONCE}


class Scripted(SimulatedEngine):
    """A network on which the calls to some people have another outcome than their cells say."""

    def __init__(self, parts: EngineParts, outcomes: Mapping[str, str]) -> None:
        super().__init__(parts)
        self._outcomes = outcomes

    def simulate(self, request: CallRequest) -> CallResult:
        result = super().simulate(request)
        outcome: Any = self._outcomes.get(request.to)
        return result if outcome is None else replace(result, outcome=outcome, disposition=None)


async def driven(tenant: Tenant, deployment_id: str, outcomes: Mapping[int, str]) -> Deployment:
    """The campaign once nobody is left or it has paused."""
    by_number = {phone(index): outcome for index, outcome in outcomes.items()}
    await lease(tenant, deployment_id, "wrk_test")
    await driver_of(tenant, engine=lambda parts: Scripted(parts, by_number)).drive(deployment_id)
    return await tenant.client.deployments.get(id=deployment_id)


@pytest.mark.requirement("STOP-01")
async def test_five_failed_calls_in_two_minutes_pause_the_campaign(tenant: Tenant) -> None:
    made = await started(tenant, people(20, sim_outcome="failed"), **ONE_LINE)
    paused = await driven(tenant, made.id, {})
    assert (paused.status, paused.status_reason, paused.stats.attempts) == ("paused", "circuit_breaker", 5)
    (event,) = (await tenant.client.events.list(type=["deployment.paused"])).data
    assert (await tenant.client.events.get(id=event.id)).data["reason"] == "circuit_breaker"


async def test_half_of_the_calls_may_fail(tenant: Tenant) -> None:
    made = await started(tenant, people(20, **TALKS), **ONE_LINE, circuit_breaker=CircuitBreaker(window_seconds=3_600))
    ended = await driven(tenant, made.id, dict.fromkeys(range(1, 20, 2), "failed"))
    assert (ended.status, ended.stats.outcomes["failed"]) == ("completed", 10)


@pytest.mark.requirement("STOP-02")
async def test_a_resume_begins_a_new_window(tenant: Tenant) -> None:
    made = await started(tenant, people(20, sim_outcome="failed"), **ONE_LINE)
    await driven(tenant, made.id, {})
    await tenant.client.deployments.resume(id=made.id)
    again = await driven(tenant, made.id, {})
    assert (again.status_reason, again.stats.attempts) == ("circuit_breaker", 10)


async def test_without_a_circuit_breaker_every_call_may_fail(tenant: Tenant) -> None:
    made = await started(tenant, people(20, sim_outcome="failed"), **ONE_LINE, circuit_breaker=None)
    assert made.circuit_breaker is None
    assert (await driven(tenant, made.id, {})).status == "completed"


async def test_a_circuit_breaker_is_made_changed_taken_away_and_copied(tenant: Tenant) -> None:
    made = await draft(tenant, people(1))
    assert made.circuit_breaker == CircuitBreaker(failure_ratio=0.5, window_seconds=120, min_calls=5)
    wanted = CircuitBreaker(failure_ratio=0.2, window_seconds=600, min_calls=50)
    changed = await tenant.client.deployments.update(id=made.id, circuit_breaker=wanted)
    assert changed.circuit_breaker == wanted
    assert (await tenant.client.deployments.clone(id=made.id, name="Copy")).circuit_breaker == wanted
    off = await tenant.client.deployments.update(id=made.id, circuit_breaker=None)
    assert off.circuit_breaker is None


@pytest.mark.requirement("STOP-03")
async def test_more_than_one_abandoned_call_in_forty_pauses_the_campaign_until_a_review(tenant: Tenant) -> None:
    made = await started(tenant, people(60, **TALKS), **ONE_LINE)
    paused = await driven(tenant, made.id, dict.fromkeys((3, 39), "abandoned"))
    assert (paused.status, paused.status_reason) == ("paused", "abandon_rate")
    (review,) = (await tenant.client.compliance_reviews.list(subject_id=made.id)).data
    assert (review.category, review.severity, review.status) == ("abandon_rate", "high", "open")
    assert review.facts == {"calls": 40, "found": 2, "percent": 5.0}
    async with refusal(422, "compliance_rejected"):
        await tenant.client.deployments.resume(id=made.id)


async def test_one_abandoned_call_in_forty_and_two_of_thirty_nine_pause_nothing(tenant: Tenant) -> None:
    for name, count, abandoned in (("One in forty", 40, [39]), ("Few", 39, [3, 38])):
        made = await started(tenant, people(count, **TALKS), name, **ONE_LINE)
        ended = await driven(tenant, made.id, dict.fromkeys(abandoned, "abandoned"))
        assert (ended.status, ended.stats.outcomes["abandoned"]) == ("completed", len(abandoned)), name


async def test_after_an_approval_only_later_calls_are_judged(tenant: Tenant) -> None:
    made = await started(tenant, people(40, **TALKS), **ONE_LINE)
    await driven(tenant, made.id, dict.fromkeys((3, 39), "abandoned"))
    (review,) = (await tenant.client.compliance_reviews.list(subject_id=made.id)).data
    await tenant.client.compliance_reviews.decide(id=review.id, decision="approve")
    await tenant.client.audiences.add_rows(id=audience_of(made), rows=people(40, first=40, **TALKS))
    await tenant.client.deployments.resume(id=made.id)
    ended = await driven(tenant, made.id, dict.fromkeys((79,), "abandoned"))
    assert (ended.status, ended.stats.outcomes["abandoned"]) == ("completed", 3)
