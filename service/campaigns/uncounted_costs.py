"""Who charges for real calls beyond what a plan counts: it names them beside the cost, which is not the whole then."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Row

from callwright.service.rules.prices.installation_prices import SERVICE_NAMES
from callwright.service.tables.audience_prices import carriers_of
from callwright.service.tables.price_lists import list_of_deployment
from callwright.service.tables.providers import own_services

_SERVICES = "services that hear, think and speak"
_OWN = "the providers of your own keys"


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
    if own := own_services(connection, row.org_id, agent):
        found = [who for who in found if who not in [SERVICE_NAMES[item] for item in own]]
        found.append(_OWN)
    return tuple(dict.fromkeys(found))
