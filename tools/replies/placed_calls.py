"""place_call: makes a deployment of one person, waits for its call, and answers with it."""

from typing import Annotated, Any

from pydantic import Field

from callwright.client.errors import CallwrightError
from callwright.contract.calls.calls import Call, ListCalls, list_calls
from callwright.contract.deployments.contacts import ListContacts
from callwright.contract.deployments.deployments import Deployment, list_contacts
from callwright.contract.deployments.placing import PlaceCall, place_call
from callwright.tools.arguments.arguments import narrowed
from callwright.tools.replies.untyped_answers import untyped_reply
from callwright.tools.replies.waiting_for_campaigns import GetDeploymentWaiting, awaited
from callwright.tools.runtime.tool import Reply, data_of, projection_of
from callwright.tools.runtime.tool_context import ToolContext
from callwright.tools.wording.text import clock_time, line, lines


class PlaceCallWaiting(PlaceCall):
    """One call, and how long to wait for its end."""

    wait_seconds: Annotated[int, Field(ge=0, le=45, description="Wait so long at most for its end.")] = 30


_CallPlaced = projection_of(
    Call, "CallPlaced", "id", "status", "outcome", "disposition", "duration_seconds", "cost", "turn_count"
)


class PlacedCall(projection_of(Deployment, "PlacedDeployment", "id", "status", "status_reason", "simulated")):
    """The deployment of one, and its call if there is one."""

    call: dict[str, Any] | None = None
    """The newest attempt."""


async def placed(context: ToolContext, asked: PlaceCallWaiting) -> Reply:
    """Places the call and waits for its end, or until the time is up."""
    key = context.key or context.session.ids()
    made = await context.client.ask_lenient(place_call, narrowed(asked, PlaceCall), idempotency_key=key)
    if (deployment := made.answer) is None:
        return untyped_reply(made.data, context)
    if deployment.status == "draft":
        said = context.hint("preview_deployment shows who is called and the cost. start_deployment calls.")
        return Reply(
            text=lines(line(deployment.id, "draft: nobody was called"), said),
            data=data_of(PlacedCall.model_validate(deployment)),
        )
    try:
        waited = await awaited(context, GetDeploymentWaiting(id=deployment.id, wait_seconds=asked.wait_seconds))
        found = await context.client.ask(list_calls, ListCalls(deployment_id=[deployment.id], per_page=1))
        is_over = waited.data.get("status") == "completed" and not found.data
        left_out = await _why_not_called(context, deployment.id) if is_over else None
    except CallwrightError:  # as an error it would be tried again, and the person called twice
        said = context.hint(f"get_deployment with deployment_id={deployment.id} shows how it goes.")
        return Reply(
            text=lines("The call is placed: do not place it again. How it goes could not be read.", said),
            data=data_of(PlacedCall.model_validate(deployment)),
        )
    state = {name: value for name, value in waited.data.items() if name in PlacedCall.model_fields}
    call = found.data[0] if found.data else None
    if call is None or call.ended_at is None:
        return Reply(text=lines(f"NOT CALLED: {left_out}" if left_out else None, waited.text), data=state)
    return Reply(text=_said(call, context), data={**state, "call": data_of(_CallPlaced.model_validate(call))})


async def _why_not_called(context: ToolContext, deployment_id: str) -> str | None:
    """Why the one person is left out, such as do_not_call; None if they are not."""
    found = await context.client.ask(list_contacts, ListContacts(id=deployment_id, status=["suppressed"], per_page=1))
    return found.data[0].status_reason if found.data else None


def _said(call: Call, context: ToolContext) -> str:
    return lines(
        line(
            call.id,
            context.number(call.to),
            call.outcome,
            call.disposition,
            clock_time(call.duration_seconds) if call.duration_seconds else None,
            f"{call.cost.amount} {call.cost.currency}" if call.cost else None,
            "simulated" if call.simulated else None,
        ),
        context.hint("get_transcript reads what was said.") if call.turn_count else None,
    )
