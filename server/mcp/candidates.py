"""Finds candidates for completion: the newest entries of a list whose id or name begins with the typed text."""

from collections.abc import Mapping
from typing import Any, cast

from callwright.client.compat.lenient_response import LenientResponse
from callwright.contract.agents.agents import list_agents
from callwright.contract.audiences import list_audiences
from callwright.contract.calls.calls import list_calls
from callwright.contract.declaration.operation import AnyOperation
from callwright.contract.declaration.pagination import Page
from callwright.contract.deployments.deployments import list_deployments
from callwright.contract.voices import list_voices
from callwright.tools.replies.untyped_answers import page_of
from callwright.tools.runtime.tool_context import Caller
from callwright.tools.wording.cleaning import cleaned

LISTS: Mapping[str, AnyOperation] = {
    "call_id": list_calls,
    "agent_id": list_agents,
    "agent": list_agents,
    "deployment_id": list_deployments,
    "audience_id": list_audiences,
    "audience": list_audiences,
    "voice_id": list_voices,
}
"""The list operation for each argument that can be completed."""

BY_NAME = frozenset({"agent", "audience"})
"""Arguments that take a name as well as an id: people know the name."""

_NARROWS = ("deployment_id", "agent_id", "audience_id")
"""Arguments that filter other lists, if the list has such a filter."""

_AT_ONCE = 200
_MOST_PAGES = 5


class Candidates:
    """The matching values, collected page by page. `given` are the other arguments; `spoken` omits calls without words.

    `values` are those found so far, also if the time runs out in the middle. `complete` says that the whole list was
    read.
    """

    def __init__(self, argument: str, typed: str, *, given: Mapping[str, str], spoken: bool = False) -> None:
        self._argument, self._typed, self._spoken = argument, typed.casefold(), spoken
        self._operation = LISTS[argument]
        fields = self._operation.takes.model_fields
        narrowing = {name: given[name] for name in _NARROWS if given.get(name) and name != argument}
        if given.get("agent", "").startswith("agt_"):
            narrowing.setdefault("agent_id", given["agent"])
        if given.get("audience", "").startswith("aud_"):
            narrowing.setdefault("audience_id", given["audience"])
        self._filters = {name: value for name, value in narrowing.items() if name in fields}
        self.values: list[str] = []
        self.complete = False

    async def collect(self, client: Caller, *, enough: int) -> None:
        """Reads up to 1,000 entries, until `enough` match. Raises the errors of `callwright.client.errors`."""
        last: Page[Any] | None = None
        for number in range(1, _MOST_PAGES + 1):
            found = await client.ask_lenient(self._operation, self._question(number, last))
            last = page = page_of(cast("LenientResponse[Page[Any]]", found))
            self.values += [value for entry in page.data if (value := self._value(entry)) is not None]
            self.complete = not page.pagination.has_more
            if self.complete or len(self.values) >= enough:
                return

    def _question(self, number: int, last: Page[Any] | None) -> Any:
        given: dict[str, Any] = {"per_page": _AT_ONCE, **self._filters}
        if last is not None:
            cursor = last.pagination.next_cursor
            given |= {"cursor": cursor} if cursor else {"page": number}
        return self._operation.takes(**given)

    def _value(self, entry: Any) -> str | None:
        if self._spoken and getattr(entry, "turn_count", 1) == 0:
            return None
        identity, called = getattr(entry, "id", getattr(entry, "call_id", None)), getattr(entry, "name", "")
        if not isinstance(identity, str) or not isinstance(called, str):
            return None  # a remote service may have neither
        name = cleaned(called).strip()
        if self._argument in BY_NAME and name and name.casefold().startswith(self._typed):
            return name
        fits = identity.casefold().startswith(self._typed) or name.casefold().startswith(self._typed)
        return identity if fits else None
