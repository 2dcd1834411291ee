"""Some of everything on both sides, with the same names for what is the same."""

import json

from tests.compare import campaigns
from tests.compare.names import Names
from tests.compare.receiver import receiving
from tests.compare.sides import Side

PEOPLE = 12
_LISTS = (
    "/v1/agents",
    "/v1/audiences",
    "/v1/audiences/{audiences}/rows",
    "/v1/phone_numbers",
    "/v1/deployments",
    "/v1/deployments/{deployments}/contacts",
    "/v1/calls",
    "/v1/webhooks",
    "/v1/events",
    "/v1/wallet/transactions",
)
"""Each list names things by what was named before it."""
_PER_PAGE = 100


def seed_both(old: Side, new: Side, seed: int) -> tuple[Names, Names]:
    """Runs a few small campaigns on both sides, and names all that there is then."""
    with receiving() as endpoint:
        for side in (old, new):
            campaigns.run(side, seed=seed, people=PEOPLE, endpoint=endpoint, most=2)
    return _named(old), _named(new)


def _named(side: Side) -> Names:
    names, found = Names(), dict[str, list[str]]()
    for path in _LISTS:
        noun = path.rpartition("{")[2].partition("}")[0]
        paths = [path.replace(f"{{{noun}}}", each) for each in found[noun]] if noun in found else [path]
        for each in paths:
            items = side.ask("GET", each, params={"per_page": _PER_PAGE})
            names.name(json.dumps(names.in_order(items)))
            found[path.removeprefix("/v1/")] = [item["id"] for item in names.in_order(items) if "id" in item]
    return names
