"""Generated steps in the suite: fewer than `scripts/state-machine` plays, and the same ones at every run."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from callwright.contract.deployments.deployments import Deployment
from callwright.contract.deployments.dialling import Compliance, RetryPolicy
from tests.state_machine.invariants import Known, Step, violations
from tests.state_machine.law import BY_NUMBER, PEOPLE, forbidden_hour
from tests.state_machine.playing import play
from tests.state_machine.side import Rows
from tests.support.database.databases import RunDatabases, chosen_engines

EXAMPLES, STEPS = 12, 16
NEW_YORK, RHODE_ISLAND, AUSTRALIA = "+12125550156", "+14015550156", "+61491570156"


@pytest.mark.requirement("STATE-27", "STATE-28", "STATE-30")
def test_generated_steps_keep_the_rules_and_are_answered_alike_on_all_engines(
    databases: RunDatabases, tmp_path: Path
) -> None:
    figures = play(databases, tmp_path, chosen_engines(), examples=EXAMPLES, steps=STEPS)
    assert figures.examples >= EXAMPLES
    assert figures.calls > EXAMPLES


def at(month: int, day: int, hour: int, minute: int = 0) -> int:
    return round(datetime(2027, month, day, hour, minute, tzinfo=UTC).timestamp() * 1_000)


@pytest.mark.parametrize(
    ("number", "purpose", "at_ms", "is_forbidden"),
    [
        (NEW_YORK, "informational", at(3, 10, 13, 59), True),  # 8:59 in winter
        (NEW_YORK, "informational", at(3, 10, 14), False),
        (NEW_YORK, "informational", at(3, 15, 13), False),  # 9:00 in summer
        (NEW_YORK, "informational", at(3, 14, 15), True),  # a Sunday
        (RHODE_ISLAND, "marketing", at(3, 15, 22, 30), True),
        (RHODE_ISLAND, "informational", at(3, 15, 22, 30), False),
        (AUSTRALIA, "informational", at(3, 15, 0, 30), True),  # 8:30 in Perth
        (AUSTRALIA, "informational", at(3, 15, 2), False),
        (AUSTRALIA, "informational", at(3, 26, 2), True),  # Good Friday
    ],
)
def test_the_law_of_the_state_machine_forbids_what_it_should(
    number: str, purpose: str, at_ms: int, is_forbidden: bool
) -> None:
    assert (forbidden_hour(BY_NUMBER[number], purpose, None, at_ms) is not None) == is_forbidden


NOON = at(3, 10, 17)
HOUR = 3_600_000


def call(place: int, at_ms: int, **changed: Any) -> dict[str, Any]:
    """A call that ended a minute after it was dialled."""
    return {
        "id": f"cal_{place}",
        "deployment_id": "dep_1",
        "contact_id": f"ctc_{place}",
        "phone_number_id": "num_1",
        "to_number": NEW_YORK,
        "attempt_number": 1,
        "created_at": at_ms,
        "ended_at": at_ms + 60_000,
        "outcome": "answered",
        "disposition": None,
        "callback_at": None,
        "duration_ms": 50_000,
        "evidence": '{"rules_version": "1"}',
        "cost_micros": 10,
        "reserved_micros": 0,
        **changed,
    }


def rows(*made: dict[str, Any], times: int = 1, status: str = "active", **campaign: Any) -> Rows:
    """The rows of a campaign with these calls."""
    open_calls = [one for one in made if one["ended_at"] is None]
    states = {"completed": len(made) - len(open_calls), "in_flight": len(open_calls)}
    kept = {
        "id": "dep_1",
        "status": status,
        "states": json.dumps(states),
        "in_flight": len(open_calls),
        "attempts": len(made),
        "spend_micros": 10 * len(made),
        "reserved_micros": 0,
        "budget_cap_micros": None,
        "max_concurrency": 2,
        **campaign,
    }
    contacts = [{"deployment_id": "dep_1", "status": "in_flight" if one in open_calls else "completed"} for one in made]
    return {
        "calls": list(made),
        "simulated_dials": [{"call_id": one["id"], "times": times} for one in made],
        "deployments": [kept],
        "deployment_contacts": contacts,
        "wallets": [{"balance_micros": 0, "reserved_micros": kept["reserved_micros"]}],
    }


def found(
    after: Rows, *, before: Rows | None = None, status: str = "active", listed: bool = False, daily: int = 200
) -> list[str]:
    """The violations of a step that made all of these calls, but those before."""
    campaign = Deployment.model_construct(
        id="dep_1",
        audience_id="aud_1",
        compliance=Compliance(),
        retry_policy=RetryPolicy(max_attempts=1),
        calling_hours=None,
        max_concurrency=2,
        calls_per_second=1.0,
    )
    known = Known(NOON, daily={"num_1": daily}, listed={NEW_YORK: None} if listed else {})
    known.note(campaign)
    return violations(Step(before or rows(status=status), after), known)


def test_a_step_that_keeps_the_rules_has_no_violation() -> None:
    assert found(rows(*(call(place, NOON + place * 120_000) for place in range(3)))) == []


NUMBERS = [person.number for person in PEOPLE if person.region in ("US-NY", "US-AZ")][:3]


def three_calls(*, apart_ms: int, **changed: Any) -> list[dict[str, Any]]:
    """Calls to three people from a campaign with two lines; each lasts a minute unless `ended_at` is given."""
    places = enumerate(NUMBERS, start=1)
    return [call(place, NOON + place * apart_ms, to_number=number, **changed) for place, number in places]


def test_calls_that_a_dead_driver_left_without_an_end_are_looked_at_once_they_have_it() -> None:
    claimed = rows(*three_calls(apart_ms=2_000, ended_at=None))
    assert found(claimed) == []
    (line,) = {text.partition(" was ")[2] for text in found(rows(*three_calls(apart_ms=2_000)), before=claimed)}
    assert line == "one of 3 calls at once on 2 lines"
    one_by_one = rows(*three_calls(apart_ms=60_000, ended_at=None))
    assert found(rows(*three_calls(apart_ms=60_000)), before=one_by_one) == []


@pytest.mark.parametrize(
    ("violations_found", "word"),
    [
        (lambda: found(rows(call(1, NOON)), status="paused"), "was paused"),
        (lambda: found(rows(call(1, NOON + 12 * HOUR))), "outside the hours"),
        (lambda: found(rows(call(1, NOON, evidence=None))), "no evidence"),
        (lambda: found(rows(*(call(place, NOON + place * HOUR) for place in range(4)))), "4 calls to its number"),
        (lambda: found(rows(*(call(place, NOON + place * HOUR) for place in range(2))), daily=1), "1 are allowed"),
        (lambda: found(rows(call(1, NOON), call(2, NOON + HOUR, contact_id="ctc_1"))), "attempt 1 after 1"),
        (lambda: found(rows(call(1, NOON), call(2, NOON + 500, to_number=RHODE_ISLAND))), "500 ms after the last one"),
        (lambda: found(rows(*three_calls(apart_ms=2_000))), "3 calls at once on 2 lines"),
        (lambda: found(rows(call(1, NOON)), listed=True), "do-not-call list"),
        (lambda: found(rows(call(1, NOON, disposition="do_not_call"), call(2, NOON + HOUR))), "opt-out"),
        (lambda: found(rows(call(1, NOON), times=2)), "dialled 2 times"),
        (lambda: found(rows(*(call(n, NOON + n * HOUR, ended_at=None) for n in range(2)))), "two calls to one number"),
        (lambda: found(rows(call(1, NOON), in_flight=1)), "calls under way"),
        (lambda: found(rows(call(1, NOON), spend_micros=9)), "of spent"),
        (lambda: found(rows(call(1, NOON), reserved_micros=9)), "of held back"),
        (
            lambda: found(rows(call(1, NOON, cost_micros=990_000), spend_micros=990_000, budget_cap_micros=100)),
            "of 100",
        ),
    ],
)
def test_a_step_that_breaks_a_rule_is_found(violations_found: Callable[[], list[str]], word: str) -> None:
    assert any(word in line for line in violations_found())
