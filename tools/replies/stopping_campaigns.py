"""pause_deployment and cancel_deployment: stop one deployment, and say whether others go on."""

from typing import cast

from callwright.client.errors import CallwrightError
from callwright.contract.declaration.operation import Operation
from callwright.contract.deployments.deployments import Deployment, DeploymentAction, ListDeployments, list_deployments
from callwright.tools.arguments.arguments import narrowed
from callwright.tools.replies.campaign_answers import DeploymentState
from callwright.tools.replies.campaign_words import stopped
from callwright.tools.replies.untyped_answers import untyped_reply
from callwright.tools.runtime.tool import Handler, Reply, data_of, projected
from callwright.tools.runtime.tool_context import ToolContext


def stopping(operation: Operation[..., DeploymentAction, Deployment]) -> Handler:
    """The handler of a tool that stops a deployment with this operation."""

    async def stop(context: ToolContext, asked: DeploymentAction) -> Reply:
        key = context.key or context.session.ids()
        found = await context.client.ask_lenient(operation, narrowed(asked, operation.takes), idempotency_key=key)
        if found.answer is None:
            return untyped_reply(found.data, context)
        others = await _others(context, found.answer)
        return Reply(
            text=stopped(found.answer, context, others), data=data_of(projected(DeploymentState, found.answer))
        )

    return stop


async def _others(context: ToolContext, deployment: Deployment) -> int | None:
    """How many other deployments are active or scheduled; None if that cannot be read: it is stopped all the same."""
    question = ListDeployments(status=["active", "scheduled"], per_page=1)
    try:
        found = await context.client.ask(list_deployments, question)
    except CallwrightError:
        return None
    others = cast("int | None", found.pagination.total)  # a remote service may omit it
    return None if others is None else others - (deployment.status in ("active", "scheduled"))
