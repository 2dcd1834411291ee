"""The sentence about a call that is said not to have rung, after which its contact is called again."""

from callwright.contract.calls.calls import GetCall, get_call
from callwright.contract.calls.unconfirmed import ResolveCall
from callwright.contract.checks.names import named, quoted
from callwright.contract.deployments.deployments import GetDeployment, get_deployment
from callwright.tools.references.looked_up import looked_up
from callwright.tools.runtime.confirmation import Confirmation
from callwright.tools.runtime.tool_context import ToolContext

_OVER = ("completed", "cancelled", "failed")


async def resolve(context: ToolContext, asked: ResolveCall) -> Confirmation | None:
    """Saying that a call was not placed. Nobody is asked where nobody is called again: after placed true, of a campaign
    that is over, and where the service refuses it.
    """
    if asked.placed:
        return None
    call = await looked_up(context, get_call, GetCall(call_uuid=asked.call_uuid))
    if not context.asks(real=call.get("simulated") is not True):
        return None
    if call.get("hangup_cause", "unconfirmed") != "unconfirmed" or call.get("resolved") is not None:
        return None
    deployment_id = str(call.get("deployment_id") or "")
    campaign = await looked_up(context, get_deployment, GetDeployment(id=deployment_id)) if deployment_id else {}
    if campaign.get("status") in _OVER:
        return None
    number = call.get("to")
    who = context.number(number) if isinstance(number, str) else "a number that is not known"
    name = quoted(str(campaign.get("name") or deployment_id or "without a name"))
    return Confirmation(
        sentence=(
            f"Call {who} again for {name}: say that its telephone did not ring at the call "
            f"{named(asked.call_uuid)}. Callwright does not know whether it rang, so if it did, the person is rung a "
            "second time. Each call costs money."
        ),
        deployment_id=deployment_id or None,
        people=1,
    )
