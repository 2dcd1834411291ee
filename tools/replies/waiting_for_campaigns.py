"""get_deployment with wait_seconds: polls until the campaign ends or pauses, or the time is up."""

from typing import Annotated

from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from callwright.contract.checks.counts import count_of
from callwright.contract.declaration.field_types import DeploymentId, PlainText
from callwright.contract.declaration.model import Input
from callwright.contract.deployments.deployments import (
    Deployment,
    GetDeployment,
    ListDeployments,
    get_deployment,
    list_deployments,
)
from callwright.tools.replies.campaign_answers import DeploymentFound
from callwright.tools.replies.campaign_words import progress, settled, whole
from callwright.tools.replies.untyped_answers import untyped_reply
from callwright.tools.runtime.tool import Reply, data_of, projected
from callwright.tools.runtime.tool_context import ToolContext
from callwright.tools.wording.text import lines

MOVING = frozenset({"active", "scheduled"})
"""States that end by themselves. A draft does not change until somebody starts it."""

_FIRST_PAUSE_S = 0.2
_LONGEST_PAUSE_S = 2.0
_GROWTH = 1.5


class GetDeploymentWaiting(Input):
    """One deployment, at once or when it is finished or paused."""

    id: DeploymentId | None = None
    idempotency_key: Annotated[
        Annotated[str, PlainText] | None,
        Field(
            min_length=1,
            max_length=255,
            description="Instead of deployment_id: the key that an error named.",
        ),
    ] = None
    wait_seconds: Annotated[
        int,
        Field(
            ge=0,
            le=45,
            description="Wait so long at most until it is finished or paused.",
        ),
    ] = 0


async def awaited(context: ToolContext, asked: GetDeploymentWaiting) -> Reply:
    """The deployment once it is finished or paused, or as it is when the time is up."""
    clock = context.session.clock
    if (asked.id is None) == (asked.idempotency_key is None):
        raise ToolError("Invalid arguments: deployment_id: required, unless idempotency_key is given in its place.")
    wanted = asked.id or await _made_with(context, asked.idempotency_key or "")
    if wanted is None:
        raise ToolError(
            "No request with this key has succeeded in the last 24 hours: it made nothing and dialled nobody. It "
            "is safe to try again."
        )
    deadline = clock.monotonic() + asked.wait_seconds
    question = GetDeployment(id=wanted)
    pause, last = _FIRST_PAUSE_S, -1
    while True:
        response = await context.client.ask_lenient(get_deployment, question)
        if (found := response.answer) is None:
            return untyped_reply(response.data, context)  # its states are unknown, so is when it is finished
        if asked.wait_seconds:
            last = await _reported(context, found, last)
        left = deadline - clock.monotonic()
        if not _moving(found) or left <= 0:
            break
        await clock.sleep(min(pause, left))
        pause = min(pause * _GROWTH, _LONGEST_PAUSE_S)
    late = asked.wait_seconds > 0 and _moving(found)
    note = (
        f"Not finished after {count_of(asked.wait_seconds, 'second')}; call again to go on waiting." if late else None
    )
    return Reply(text=lines(whole(found, context), note), data=data_of(projected(DeploymentFound, found)))


def _moving(found: Deployment) -> bool:
    """Whether it ends by itself. An inbound one goes on until somebody stops it."""
    return found.status in MOVING and found.call_type == "outbound"


async def _made_with(context: ToolContext, key: str) -> str | None:
    """The id of the deployment that a request with this idempotency key made or started."""
    found = await context.client.ask(list_deployments, ListDeployments(idempotency_key=key, per_page=1))
    return next((deployment.id for deployment in found.data), None)


async def _reported(context: ToolContext, found: Deployment, last: int) -> int:
    """Reports how many contacts get no further call, if that has grown: progress must increase."""
    stats = found.stats
    now = settled(stats)
    if now <= last or not stats.contacts:
        return last
    await context.progress(float(now), float(stats.contacts), progress(stats))
    return now
