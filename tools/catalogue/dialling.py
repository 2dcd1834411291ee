"""Tools that start and stop campaigns. Starting dials and spends; stopping never needs a confirmation."""

from callwright.contract.deployments import deployments as contract
from callwright.tools.catalogue.deployments import WHOLE_CAMPAIGN_HINT
from callwright.tools.confirmation import what_to_confirm
from callwright.tools.replies.campaign_answers import OMITTED_AFTER_A_CHANGE, DeploymentState
from callwright.tools.replies.campaign_words import started, stopped
from callwright.tools.runtime.tool import Hints, Tool

_DIALS = Hints(read_only=False, destructive=True, idempotent=True, open_world=True)

_PLAN = (
    "From preview_deployment. Nobody is called if anything but opt-outs changed since. Required where telephones ring."
)

TOOLS: tuple[Tool, ...] = (
    Tool(
        operation=contract.start_deployment,
        toolset="campaigns",
        title="Start a deployment",
        description=(
            "DIALS PEOPLE AND SPENDS MONEY: calls every contact of a draft with retries, or waits for start_at. "
            "A scheduled one begins early by a new plan_id. (Simulated: no telephone rings, play money.) First use "
            "preview_deployment; start only after the person agrees to people and cost. Paused: "
            "resume_deployment. Stop: pause_deployment."
        ),
        hints=_DIALS,
        reply=started,
        argument_descriptions={"plan_id": _PLAN, "jump_clock": "Simulated: do not wait for start_at."},
        confirmation=what_to_confirm.start,
        output_model=DeploymentState,
        omitted_fields=OMITTED_AFTER_A_CHANGE,
        truncation_hint=WHOLE_CAMPAIGN_HINT,
    ),
    Tool(
        operation=contract.pause_deployment,
        toolset="campaigns",
        title="Pause a deployment",
        description=(
            "Stops new calls of a running campaign at once and keeps its queue, or stops answering a number; calls "
            "under way finish, and cost what they cost. Safe at any time; use it first when something seems wrong. To "
            "go on use resume_deployment. To end it for good use cancel_deployment."
        ),
        hints=Hints(read_only=False, destructive=False, idempotent=True, open_world=True),
        reply=stopped,
        output_model=DeploymentState,
        omitted_fields=OMITTED_AFTER_A_CHANGE,
        truncation_hint=WHOLE_CAMPAIGN_HINT,
    ),
    Tool(
        operation=contract.resume_deployment,
        toolset="campaigns",
        title="Resume a deployment",
        description=(
            "DIALS PEOPLE AND SPENDS MONEY: a paused campaign goes on with the contacts that are left. (An inbound "
            "deployment answers callers again.) If it paused by itself, get_deployment names the reason. Repair that "
            "first, for example a budget_cap with update_deployment. Ask the person before resuming. For a draft use "
            "start_deployment."
        ),
        hints=_DIALS,
        reply=started,
        argument_descriptions={"plan_id": _PLAN},
        confirmation=what_to_confirm.start,
        output_model=DeploymentState,
        omitted_fields=OMITTED_AFTER_A_CHANGE,
        hidden=frozenset({"jump_clock"}),
        truncation_hint=WHOLE_CAMPAIGN_HINT,
    ),
    Tool(
        operation=contract.cancel_deployment,
        toolset="campaigns",
        title="Cancel a deployment",
        description=(
            "Ends a deployment for good: what is pending is dropped and cannot be taken up again, a number it answers "
            "is freed; calls under way finish, and cost what they cost. Records and transcripts stay. To stop for a "
            "while use pause_deployment. Ask the person first, unless they asked for it."
        ),
        hints=Hints(read_only=False, destructive=True, idempotent=True, open_world=True),
        reply=stopped,
        output_model=DeploymentState,
        omitted_fields=OMITTED_AFTER_A_CHANGE,
        truncation_hint=WHOLE_CAMPAIGN_HINT,
    ),
)
