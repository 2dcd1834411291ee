"""Tools that start and stop campaigns, or place one call. Starting dials and spends; stopping never needs a yes."""

from callwright.contract.deployments import deployments as contract
from callwright.contract.deployments.placing import place_call
from callwright.tools.catalogue.deployments import WHOLE_CAMPAIGN_HINT
from callwright.tools.confirmation import what_to_confirm
from callwright.tools.replies.campaign_answers import OMITTED_AFTER_A_CHANGE, DeploymentState
from callwright.tools.replies.campaign_words import started
from callwright.tools.replies.placed_calls import PlaceCallWaiting, PlacedCall, placed
from callwright.tools.replies.stopping_campaigns import stopping
from callwright.tools.runtime.tool import Hints, Tool, no_text

_DIALS = Hints(read_only=False, destructive=True, idempotent=True, open_world=True)

_PLAN = "From preview_deployment; refused if it changed since. Required where telephones ring."

TOOLS: tuple[Tool, ...] = (
    Tool(
        operation=place_call,
        toolset="campaigns",
        title="Call one person",
        description=(
            "DIALS AND SPENDS MONEY: one call now, from a rented number, by an agent, one attempt by default "
            "(simulated: no telephone rings). auto_start=false drafts it for preview_deployment. To call many use "
            "create_deployment."
        ),
        hints=Hints(read_only=False, destructive=True, idempotent=False, open_world=True),
        reply=no_text,
        input_model=PlaceCallWaiting,
        output_model=PlacedCall,
        handler=placed,
        confirmation=what_to_confirm.place,
        argument_descriptions={
            "to": "Whom to call.",
            "variables": 'Values for placeholders, such as {"first_name": "Ada"}.',
            "auto_start": "false: only a draft.",
            "retry_policy": "As in create_deployment.",
            "calling_hours": "As in create_deployment.",
        },
        collapsed=frozenset({"retry_policy", "calling_hours"}),
        hidden=frozenset({"voicemail", "max_call_duration_seconds", "budget_cap", "person_agreed_to"}),
        truncation_hint=WHOLE_CAMPAIGN_HINT,
    ),
    Tool(
        operation=contract.start_deployment,
        toolset="campaigns",
        title="Start a deployment",
        description=(
            "DIALS PEOPLE AND SPENDS MONEY: calls every contact of a draft with retries, or waits for start_at; a "
            "new plan_id begins a scheduled one early. (Simulated: no telephone rings, play money.) First use "
            "preview_deployment; start only after the person agrees to people and cost. Stop: pause_deployment."
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
            "Stops new calls of a campaign at once and keeps its queue, or stops answering a number; calls under "
            "way finish and cost. Safe at any time, when something seems wrong. Says its settings and whether others "
            "go on. To go on use resume_deployment, to end cancel_deployment."
        ),
        hints=Hints(read_only=False, destructive=False, idempotent=True, open_world=True),
        reply=no_text,
        handler=stopping(contract.pause_deployment),
        output_model=DeploymentState,
        omitted_fields=OMITTED_AFTER_A_CHANGE,
        truncation_hint=WHOLE_CAMPAIGN_HINT,
    ),
    Tool(
        operation=contract.resume_deployment,
        toolset="campaigns",
        title="Resume a deployment",
        description=(
            "DIALS PEOPLE AND SPENDS MONEY: a paused campaign goes on with who is left; an inbound one answers "
            "again. Where it paused by itself, get_deployment names the reason: repair that first with "
            "update_deployment. Ask the person. For a draft use start_deployment."
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
            "Ends a deployment for good: what is pending is dropped, a number it answers is freed; calls under "
            "way finish and cost. Records stay. To stop for a while use pause_deployment. Ask the person, unless they "
            "asked for it."
        ),
        hints=Hints(read_only=False, destructive=True, idempotent=True, open_world=True),
        reply=no_text,
        handler=stopping(contract.cancel_deployment),
        output_model=DeploymentState,
        omitted_fields=OMITTED_AFTER_A_CHANGE,
        truncation_hint=WHOLE_CAMPAIGN_HINT,
    ),
)
