"""A scripted service whose lists filter as the real one does, and calls of tools that look things up in it."""

from collections.abc import Callable
from typing import Any

from mcp.types import CallToolResult

from callwright.contract.declaration.model import Resource
from callwright.contract.declaration.pagination import Page
from tests.support.tools import samples
from tests.support.tools.fakes import ERAS, FakeCaller, assistant, server
from tests.support.tools.results import text_of

NEWER = ERAS[-1]


def listing(*entries: Resource) -> Callable[[Any], Page[Any]]:
    """A list of these entries that filters and pages as the service does."""

    def answer(asked: Any) -> Page[Any]:
        kept = list(entries)
        for name in ("name", "number", "phone_number", "status"):
            wanted: Any = getattr(asked, name, None)
            if wanted is not None:
                accepted = [wanted] if isinstance(wanted, str) else wanted
                kept = [entry for entry in kept if getattr(entry, name) in accepted]
        at = (getattr(asked, "page", None) or 1) - 1
        return samples.page(kept[at * asked.per_page : (at + 1) * asked.per_page], total=len(kept))

    return answer


def caller(**lists: Callable[[Any], Page[Any]]) -> FakeCaller:
    """A service with these lists, and the usual answers to everything else."""
    return FakeCaller(answers=samples.answers() | lists)


ANNA = samples.agent(id="agt_7", name="Anna")
DESK = samples.number(id="num_7", number="+12025550199", label="Front desk")
LONDON = samples.number(id="num_8", number="+442079460958", label="London", country="GB")
BANGALORE = samples.number(id="num_9", number="+919876500000", label="", country="IN")


async def answer(
    asked: FakeCaller, tool: str, arguments: dict[str, Any], *, era: str = NEWER, **options: Any
) -> CallToolResult:
    """What a tool answers over the protocol."""
    async with assistant(server(asked, **options), era) as client:
        return await client.call_tool(tool, arguments)


async def refusal(asked: FakeCaller, tool: str, arguments: dict[str, Any], **options: Any) -> str:
    """The words with which a tool refuses."""
    result = await answer(asked, tool, arguments, **options)
    assert result.is_error
    return text_of(result)


def last(asked: FakeCaller, operation: str) -> dict[str, Any]:
    """What an operation was asked the last time."""
    found = [entry for entry in asked.asked if entry.operation == operation]
    return found[-1].asked.model_dump(exclude_unset=True)


async def text_from(name: str, arguments: dict[str, Any], answers: dict[str, Any], **options: Any) -> str:
    async with assistant(server(FakeCaller(answers=answers), **options), "2026-07-28") as client:
        return text_of(await client.call_tool(name, arguments))
