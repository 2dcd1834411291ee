"""The table of states by itself. What a request makes of it stands in the handlers' tests."""

from collections.abc import Callable
from typing import get_args

import pytest

from callwright.contract.deployments import DeploymentStatus, UpdateDeployment
from callwright.contract.problems import INVALID_STATE_TRANSITION
from callwright.service.domain.deployment_states import TERMINAL, check_action, check_editable
from callwright.service.domain.refusals import Refusal

STATES: tuple[DeploymentStatus, ...] = get_args(DeploymentStatus)
FIELDS = frozenset(UpdateDeployment.model_fields) - {"id"}
LIVE = ("name", "max_concurrency", "calls_per_second", "end_at", "budget_cap", "metadata")


def refusal_of(act: Callable[[], object]) -> Refusal | None:
    """How something is refused, if it is."""
    try:
        act()
    except Refusal as refusal:
        return refusal
    return None


@pytest.mark.parametrize("status", TERMINAL)
def test_what_has_ended_is_never_moved_or_changed(status: DeploymentStatus) -> None:
    for action in ("start", "pause", "resume", "delete"):
        with pytest.raises(Refusal):
            check_action(action, status)
    with pytest.raises(Refusal) as caught:
        check_editable({"name"}, status)
    assert caught.value.details == {"current_status": status, "allowed": []}
    check_editable(set(), status)


def test_an_action_repeated_changes_nothing_and_is_no_failure() -> None:
    done: dict[str, DeploymentStatus] = {
        "start": "active",
        "pause": "paused",
        "resume": "active",
        "cancel": "cancelled",
    }
    assert not [action for action, status in done.items() if check_action(action, status)]


@pytest.mark.parametrize("status", STATES)
def test_a_refused_action_names_what_is_allowed_and_all_of_that_is(status: DeploymentStatus) -> None:
    for action in ("start", "pause", "resume", "cancel", "delete"):
        refusal = refusal_of(lambda action=action: check_action(action, status))
        if refusal is not None:
            assert refusal.problem is INVALID_STATE_TRANSITION
            assert refusal.details["current_status"] == status
            for name in refusal.details["allowed"]:
                assert check_action(name, status)


@pytest.mark.parametrize(
    ("status", "open_"),
    [
        ("draft", FIELDS),
        ("scheduled", FIELDS),
        ("paused", FIELDS - {"agent_id", "audience_id"}),
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
