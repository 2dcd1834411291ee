"""Who charges for real calls beyond what a plan counts: it names them beside the cost, which is not the whole then."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Row

from callwright.service.tables import providers
from callwright.service.tables.audience_prices import carriers_of
from callwright.service.tables.price_lists import list_of_deployment

_SERVICES = "services that hear, think and speak"
_OWN = "the providers of your own keys"
_ROLES = ("hearing_provider", "speaking_provider", "model_provider")


def uncounted(connection: Connection, row: Row[Any], agent: Mapping[str, Any]) -> Sequence[str]:
    """Who charges for a deployment's calls and is not counted; nobody on the simulated network.

    `agent` are the fields of the agent that the deployment keeps or would keep.
    """
    if row.simulated:
        return ()
    listed = list_of_deployment(connection, row)
    found = [_SERVICES]
    if listed is not None:
        found = [who for carrier in carriers_of(connection, row) for who in listed.uncounted(carrier)]
    own = any(agent.get(role) for role in _ROLES)
    if own or any(providers.defaults_of(each) for each in providers.all_of(connection, row.org_id)):
        found.append(_OWN)
    return tuple(dict.fromkeys(found))
