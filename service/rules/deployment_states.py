"""The statuses of a deployment, and the actions and changes that each allows."""

from collections.abc import Mapping
from typing import Any

from callwright.contract.declaration.marks import CallType
from callwright.contract.deployments.deployments import DeploymentStatus, UpdateDeployment
from callwright.contract.deployments.inbound import ANSWERING
from callwright.contract.problems import INVALID_STATE_TRANSITION
from callwright.service.platform.refusals import Refusal, invalid

TERMINAL: tuple[DeploymentStatus, ...] = ("completed", "cancelled", "failed")
_MAY: dict[str, tuple[DeploymentStatus, ...]] = {
    "start": ("draft", "scheduled"),
    "pause": ("scheduled", "active"),
    "resume": ("paused",),
    "cancel": ("draft", "scheduled", "active", "paused"),
    "delete": ("draft",),
}
_DONE = {"start": "started", "pause": "paused", "resume": "resumed", "cancel": "cancelled", "delete": "deleted"}
_ALREADY: dict[str, tuple[DeploymentStatus, ...]] = {
    "start": ("active",),
    "pause": ("paused",),
    "resume": ("active",),
    "cancel": ("cancelled",),
}
_ANEW: dict[CallType, str] = {
    "outbound": "; clone it, which makes a draft with the same settings",
    "inbound": "; make another one for the number",
    "web": "; make a link for another talk",
}
"""What to do instead if the deployment has ended for good."""
_ANY_TIME = frozenset({"name", "max_concurrency", "calls_per_second", "end_at", "budget_cap", "metadata"})
_PAUSED_NOT = frozenset({"agent_id", "audience_id", "recording"})
_INBOUND_ANY_TIME = frozenset({"name", "max_concurrency", "inbound", "metadata", *ANSWERING})
_INBOUND_PAUSED = _INBOUND_ANY_TIME | {"agent_id"}
_CAMPAIGN = frozenset(UpdateDeployment.changing()) - {"id", "inbound", *ANSWERING}


def check_action(
    action: str, status: DeploymentStatus, *, at_once: bool = False, call_type: CallType = "outbound"
) -> bool:
    """Whether the action changes anything. False when the deployment has the status already.

    A scheduled deployment starts by itself, so a start of it changes nothing unless it is meant to start `at_once`.

    Raises:
        Refusal: invalid_state_transition, with the current state and the actions it allows.
    """
    if status in _ALREADY.get(action, ()):
        return False
    if action == "start" and status == "scheduled" and not at_once:
        return False
    if status not in _MAY[action]:
        allowed = [name for name, states in _MAY.items() if status in states]
        over = status in TERMINAL and action in ("start", "resume")
        raise Refusal(
            INVALID_STATE_TRANSITION,
            f"a deployment that is {status} cannot be {_DONE[action]}{_ANEW[call_type] if over else ''}",
            details={"current_status": status, "allowed": allowed},
        )
    return True


def editable(status: DeploymentStatus, call_type: CallType = "outbound") -> frozenset[str]:
    """The fields of a deployment of this kind that may change in this state."""
    if status in TERMINAL:
        return frozenset()
    if call_type == "inbound":
        return _INBOUND_PAUSED if status == "paused" else _INBOUND_ANY_TIME
    if status == "active":
        return _ANY_TIME
    return _CAMPAIGN - _PAUSED_NOT if status == "paused" else _CAMPAIGN


def meant(changes: Mapping[str, Any], call_type: CallType) -> dict[str, Any]:
    """The changes without nulls for fields that deployments of this kind do not have."""
    has = _INBOUND_PAUSED if call_type == "inbound" else _CAMPAIGN
    return {name: value for name, value in changes.items() if value is not None or name in has}


def check_editable(fields: set[str], status: DeploymentStatus, call_type: CallType = "outbound") -> None:
    """Checks which fields may change.

    Raises:
        Refusal: invalid_field for a field that deployments of this kind do not have, invalid_state_transition for one
            that may not change in this state, with all that may.
    """
    if foreign := fields - (_INBOUND_PAUSED if call_type == "inbound" else _CAMPAIGN):
        raise invalid(sorted(foreign)[0], f"an {call_type} deployment does not have it")
    allowed = editable(status, call_type)
    if locked := sorted(fields - allowed):
        can_wait = status not in TERMINAL and locked[0] in editable("paused", call_type)
        raise Refusal(
            INVALID_STATE_TRANSITION,
            f"{locked[0]} of a deployment that is {status} cannot change"
            f"{'; pause it first' if can_wait else _ANEW[call_type]}",
            field=locked[0],
            details={"current_status": status, "allowed": sorted(allowed)},
        )
