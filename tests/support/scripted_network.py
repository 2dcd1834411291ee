"""A network on which chosen people opt out or end the call at once."""

from collections.abc import Collection
from dataclasses import replace

from callwright.contract.deployments.deployments import Deployment
from callwright.service.telephony.engine import CallRequest, CallResult, EngineParts
from callwright.service.telephony.simulated.engine import SimulatedEngine
from tests.support.campaigns import driver_of, lease, phone
from tests.support.service import Tenant


class Scripted(SimulatedEngine):
    """A network on which some people opt out, and some calls end after three seconds."""

    def __init__(self, parts: EngineParts, opted_out: Collection[str], short: Collection[str]) -> None:
        super().__init__(parts)
        self._opted_out, self._short = opted_out, short

    def simulate(self, request: CallRequest) -> CallResult:
        result = super().simulate(request)
        if request.to in self._opted_out:
            return replace(result, disposition="do_not_call")
        if request.to in self._short:
            assert result.answered_s is not None
            return replace(result, ended_s=result.answered_s + 3.0, turns=())
        return result


async def driven(
    tenant: Tenant, deployment_id: str, *, opted_out: Collection[int] = (), short: Collection[int] = ()
) -> Deployment:
    """The campaign once nobody is left or it has paused."""
    numbers = {phone(index) for index in opted_out}, {phone(index) for index in short}
    await lease(tenant, deployment_id, "wrk_test")
    await driver_of(tenant, engine=lambda parts: Scripted(parts, *numbers)).drive(deployment_id)
    return await tenant.client.deployments.get(id=deployment_id)
