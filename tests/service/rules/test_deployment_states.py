"""The table of states by itself. What a request makes of it stands in the handlers' tests."""

from collections.abc import Callable
from functools import partial
from typing import get_args

import pytest

from callwright.contract.declaration.marks import CallType
from callwright.contract.deployments.deployments import DeploymentStatus, UpdateDeployment
from callwright.contract.deployments.inbound import ANSWERING
from callwright.contract.problems import INVALID_FIELD, INVALID_STATE_TRANSITION
from callwright.service.platform.refusals import Refusal
from callwright.service.rules.deployment_states import TERMINAL, check_action, check_editable

STATES: tuple[DeploymentStatus, ...] = get_args(DeploymentStatus)
EVERY = frozenset(UpdateDeployment.model_fields) - {"id", "expected_revisions"}
FIELDS = EVERY - {"inbound", *ANSWERING}
"""Those of a campaign."""
INBOUND = frozenset({"name", "agent_id", "max_concurrency", "inbound", "metadata", *ANSWERING})
LIVE = ("name", "max_concurrency", "calls_per_second", "end_at", "budget_cap", "metadata")


def refusal_of(act: Callable[[], object]) -> Refusal | None:
    """How something is refused, if it is."""
    try:
        act()
    except Refusal as refusal:
        return refusal
    return None


@pytest.mark.requirement("STATE-16")
@pytest.mark.parametrize("status", TERMINAL)
def test_what_has_ended_is_never_moved_or_changed(status: DeploymentStatus) -> None:
    for action in ("start", "pause", "resume", "delete"):
        with pytest.raises(Refusal):
            check_action(action, status)
    with pytest.raises(Refusal) as caught:
        check_editable({"name"}, status)
    assert caught.value.details == {"current_status": status, "allowed": []}
    check_editable(set(), status)


@pytest.mark.requirement("STATE-17")
def test_an_action_repeated_changes_nothing_and_is_no_failure() -> None:
    done: dict[str, DeploymentStatus] = {
        "start": "active",
        "pause": "paused",
        "resume": "active",
        "cancel": "cancelled",
    }
    assert not [action for action, status in done.items() if check_action(action, status)]


@pytest.mark.requirement("STATE-18")
@pytest.mark.parametrize("status", STATES)
def test_a_refused_action_names_what_is_allowed_and_all_of_that_is(status: DeploymentStatus) -> None:
    for action in ("start", "pause", "resume", "cancel", "delete"):
        refusal = refusal_of(lambda action=action: check_action(action, status))
        if refusal is not None:
            assert refusal.problem is INVALID_STATE_TRANSITION
            assert refusal.details["current_status"] == status
            for name in refusal.details["allowed"]:
                assert check_action(name, status, at_once=True)


@pytest.mark.requirement("STATE-20")
@pytest.mark.parametrize(
    ("status", "open_"),
    [
        ("draft", FIELDS),
        ("scheduled", FIELDS),
        ("paused", FIELDS - {"agent_id", "audience_id", "recording"}),
        ("active", frozenset(LIVE)),
        ("completed", frozenset[str]()),
    ],
)
def test_which_fields_may_change_in_which_state(status: DeploymentStatus, open_: frozenset[str]) -> None:
    found: set[str] = set()
    for field in FIELDS:
        refusal = refusal_of(lambda field=field: check_editable({field}, status))
        if refusal is None:
            found.add(field)
        else:
            assert refusal.field == field
    assert found == open_


@pytest.mark.parametrize(
    ("status", "open_"),
    [
        ("active", {"name", "max_concurrency", "inbound", "metadata", *ANSWERING}),
        ("paused", {"name", "max_concurrency", "inbound", "metadata", "agent_id", *ANSWERING}),
        ("cancelled", set[str]()),
        ("failed", set[str]()),
    ],
)
def test_which_fields_of_an_inbound_deployment_may_change_in_which_state(
    status: DeploymentStatus, open_: set[str]
) -> None:
    refusals = {field: refusal_of(lambda field=field: check_editable({field}, status, "inbound")) for field in EVERY}
    assert {field for field, refusal in refusals.items() if refusal is None} == open_
    foreign = {field for field, refusal in refusals.items() if refusal and refusal.problem is INVALID_FIELD}
    assert foreign == EVERY - INBOUND
    assert {field: refusal.field for field, refusal in refusals.items() if refusal} == {
        field: field for field in EVERY - open_
    }


def test_a_campaign_has_no_inbound_settings() -> None:
    for status in STATES:
        refusal = refusal_of(lambda status=status: check_editable({"inbound"}, status))
        assert refusal is not None
        assert (refusal.problem, refusal.field) == (INVALID_FIELD, "inbound")


@pytest.mark.requirement("STATE-18")
@pytest.mark.parametrize("call_type", ["outbound", "inbound"])
@pytest.mark.parametrize("status", STATES)
def test_a_refused_change_names_exactly_the_fields_that_may_change(
    status: DeploymentStatus, call_type: CallType
) -> None:
    fields = sorted(FIELDS if call_type == "outbound" else INBOUND)
    may = [
        field for field in fields if refusal_of(lambda field=field: check_editable({field}, status, call_type)) is None
    ]
    for field in sorted({*fields} - {*may}):
        refusal = refusal_of(lambda field=field: check_editable({field}, status, call_type))
        assert refusal is not None
        assert refusal.details == {"current_status": status, "allowed": may}


@pytest.mark.parametrize("status", TERMINAL)
@pytest.mark.parametrize("action", ["start", "resume"])
def test_what_has_ended_and_is_started_again_is_told_to_be_cloned(action: str, status: DeploymentStatus) -> None:
    campaign = refusal_of(lambda: check_action(action, status))
    inbound = refusal_of(lambda: check_action(action, status, call_type="inbound"))
    assert campaign is not None
    assert campaign.message.endswith("; clone it, which makes a draft with the same settings")
    assert inbound is not None
    assert inbound.message.endswith("; make another one for the number")


def test_a_field_that_may_not_change_now_says_what_to_do_first() -> None:
    said: dict[tuple[str, DeploymentStatus, CallType], str] = {
        ("calling_hours", "active", "outbound"): "; pause it first",
        ("agent_id", "active", "inbound"): "; pause it first",
        ("agent_id", "active", "outbound"): "; clone it, which makes a draft with the same settings",
        ("audience_id", "paused", "outbound"): "; clone it, which makes a draft with the same settings",
        ("name", "completed", "outbound"): "; clone it, which makes a draft with the same settings",
        ("name", "cancelled", "inbound"): "; make another one for the number",
    }
    for (field, status, call_type), end in said.items():
        refusal = refusal_of(partial(check_editable, {field}, status, call_type))
        assert refusal is not None
        assert refusal.message == f"{field} of a deployment that is {status} cannot change{end}"
