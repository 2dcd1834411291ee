"""Where completion finds its candidates: newest entries of a list whose id or name begins with what was typed."""

from collections.abc import Mapping
from typing import Any

from callwright.contract.agents import list_agents
from callwright.contract.audiences import list_audiences
from callwright.contract.calls import list_calls
from callwright.contract.deployments import list_deployments
from callwright.contract.operation import AnyOperation
from callwright.contract.pagination import Page
from callwright.tools.use import Caller

LISTS: Mapping[str, AnyOperation] = {
    "call_id": list_calls,
    "agent_id": list_agents,
    "deployment_id": list_deployments,
    "audience_id": list_audiences,
    "audience": list_audiences,
}
"""The list behind each argument that can be completed."""

_AT_ONCE = 200
_MOST_PAGES = 5


async def candidates(client: Caller, argument: str, typed: str, *, enough: int) -> list[str]:
    """Ids of the newest entries that fit, `enough` at most. It looks at 1,000 entries and no more."""
    operation = LISTS[argument]
    wanted = typed.casefold()
    found: list[str] = []
    cursor: str | None = None
    for _ in range(_MOST_PAGES):
        given = {"per_page": _AT_ONCE} | ({"cursor": cursor} if cursor else {})
        page: Page[Any] = await client.ask(operation, operation.takes(**given))
        found += [entry.id for entry in page.data if _fits(entry, wanted)]
        cursor = page.pagination.next_cursor
        if len(found) >= enough or not page.pagination.has_more or cursor is None:
            break
    return found[:enough]


def _fits(entry: Any, wanted: str) -> bool:
    name: str = getattr(entry, "name", "")
    return entry.id.casefold().startswith(wanted) or name.casefold().startswith(wanted)
