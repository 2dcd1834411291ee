"""Plans cannot be forged, altered or used elsewhere, and tell which part has changed."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.service.platform.refusals import Refusal
from callwright.service.rules.plan_id import PARTS, Part, StartPlan, StartPlanSeal, contents, part_fingerprint

SEAL = StartPlanSeal(b"a secret of this installation")
PLAN = StartPlan(1_795_251_600, {part: part_fingerprint(part, [part, 1]) for part in PARTS})
HERE = {"org_id": "org_1", "deployment_id": "dep_1"}


def sealed() -> str:
    return SEAL.seal(PLAN, **HERE)


def refused(plan_id: str, seal: StartPlanSeal = SEAL, **where: str) -> bool:
    """Whether the id is no plan there."""
    with pytest.raises(Refusal) as caught:
        seal.open(plan_id, **{**HERE, **where})
    return (caught.value.problem.code, caught.value.field) == ("invalid_field", "plan_id")


def test_a_plan_is_opened_as_it_was_sealed_and_is_short_enough_to_be_kept() -> None:
    plan_id = sealed()
    assert plan_id.startswith("pln_")
    assert len(plan_id) <= 200
    assert SEAL.open(plan_id, **HERE) == contents(plan_id) == PLAN


def test_a_plan_is_of_one_deployment_one_organization_and_one_installation() -> None:
    assert refused(sealed(), deployment_id="dep_2")
    assert refused(sealed(), org_id="org_2")
    assert refused(sealed(), org_id="org_1\0dep", deployment_id="_1")
    assert refused(sealed(), StartPlanSeal(b"another secret"))


@given(st.integers(0, 74), st.integers(1, 255))
def test_a_plan_with_any_byte_altered_is_refused(place: int, change: int) -> None:
    raw = bytearray(base64.urlsafe_b64decode(sealed()[4:]))
    raw[place] ^= change
    assert refused("pln_" + base64.urlsafe_b64encode(raw).decode())


@pytest.mark.parametrize("wrong", ["", "pln_", "pln", "pln_ü", "pln_" + "A" * 100, "pln_" + "=" * 100])
def test_what_is_no_plan_is_refused(wrong: str) -> None:
    assert refused(wrong)
    assert refused(sealed()[4:])
    assert refused(sealed() + "=")
    assert refused(sealed()[:-1])
    assert refused(sealed().replace("pln_", "pln_ "))
    assert contents(sealed()[:-4]) is None


@pytest.mark.parametrize("part", PARTS)
def test_a_part_that_has_changed_is_named(part: Part) -> None:
    now: dict[Part, bytes] = {each: part_fingerprint(each, [each, 2 if each == part else 1]) for each in PARTS}
    assert PLAN.changed(now) == [part]
    assert PLAN.changed(PLAN.parts) == []
    assert PLAN.changed({each: now[each] for each in PARTS if each != part}) == []


def test_equal_facts_of_different_parts_differ() -> None:
    assert len({part_fingerprint(part, None) for part in PARTS}) == len(PARTS)
