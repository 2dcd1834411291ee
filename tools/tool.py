"""A tool is a value: an operation of the contract, words for a model, hints for a host, and how the answer reads."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from mcp.types import ContentBlock
from pydantic import BaseModel, Field

from callwright.contract.model import Input, Resource
from callwright.contract.operation import AnyOperation
from callwright.contract.pagination import Page

from .text import lines
from .untrusted import cleaned_at
from .use import Use

Toolset = Literal["context", "agents", "audiences", "numbers", "campaigns", "calls"]
Item = TypeVar("Item", bound=Resource)


@dataclass(frozen=True, kw_only=True)
class Hints:
    """What a host may decide by, all four always stated."""

    read_only: bool
    destructive: bool
    """It overwrites, ends or removes something, or makes telephones ring."""
    idempotent: bool
    """Repeating it with the same arguments changes nothing more."""
    open_world: bool
    """It reaches beyond the service: a carrier, a telephone."""


READS = Hints(read_only=True, destructive=False, idempotent=True, open_world=False)
ADDS = Hints(read_only=False, destructive=False, idempotent=False, open_world=False)
CHANGES = Hints(read_only=False, destructive=True, idempotent=True, open_world=False)


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What a tool gives back: text for the model, the data behind it, and content that is neither."""

    text: str
    data: dict[str, Any]
    more: tuple[ContentBlock, ...] = ()
    untrusted: tuple[str, ...] = ()
    """Where in `data` words stand that somebody outside said, for example `turns.text`."""


class Gone(Resource):
    """Answer of a tool that deletes."""

    id: str = Field(description="What was deleted.")
    deleted: Literal[True] = True


Act = Callable[[Use, Any], Awaitable[Reply]]
Words = Callable[[Any, Use], str]


@dataclass(frozen=True, kw_only=True)
class Tool:
    """One tool. Most need no code but `reply`; `act` replaces the plain question to the service."""

    operation: AnyOperation
    toolset: Toolset
    title: str
    description: str
    """For a model: what for, when and when not, cost and side effects, what comes back. 1,024 characters at most."""
    hints: Hints
    reply: Words
    """The answer in short lines."""
    takes: type[Input] | None = None
    """The arguments, where a tool takes more than its operation."""
    gives: type[BaseModel] | None = None
    """The structured answer, where it is not the operation's own."""
    act: Act | None = None
    untrusted: tuple[str, ...] = ()
    words: Mapping[str, str] = field(default_factory=dict[str, str])
    """Descriptions of single arguments, where a model needs other ones than the contract has."""

    @property
    def name(self) -> str:
        """The operation's own name."""
        return self.operation.name

    @property
    def arguments(self) -> type[Input]:
        """The model that the arguments are held against."""
        return self.takes or self.operation.takes

    @property
    def answer(self) -> type[BaseModel]:
        """The model of the structured answer."""
        item = self.operation.item
        if self.gives is not None:
            return self.gives
        if item is None:
            return Gone
        return Page[item] if self.operation.shape == "many" else item


def data_of(answer: BaseModel) -> dict[str, Any]:
    """An answer as JSON data without its nulls."""
    return answer.model_dump(mode="json", by_alias=True, exclude_none=True)


async def asked_plainly(tool: Tool, use: Use, asked: Input) -> Reply:
    """Asks the operation once, with a fresh idempotency key where that matters, and words the answer."""
    operation = tool.operation
    keyed = operation.method == "POST" and not tool.hints.read_only
    key = use.session.ids() if keyed else None
    answer: Any = await use.client.ask(operation, asked, idempotency_key=key)
    if operation.shape == "nothing":
        answer = Gone(id=getattr(asked, operation.path_fields[-1]))
    data = data_of(answer)
    for path in tool.untrusted:
        cleaned_at(data, path)
    return Reply(text=tool.reply(answer, use), data=data, untrusted=tool.untrusted)


def one_a_line(entry: Callable[[Item, Use], str], *, empty: str) -> Callable[[Page[Item], Use], str]:
    """Words for a list: one line an entry, then how many follow and how to get them; `empty` where there is none."""

    def words(page: Page[Item], use: Use) -> str:
        paging = page.pagination
        left = paging.total - (paging.page - 1) * paging.per_page - len(page.data)
        count = f"{left} more" if left > 0 else "More"
        how = f"cursor={paging.next_cursor}" if paging.next_cursor else f"page={paging.page + 1}"
        return lines(
            *(entry(item, use) for item in page.data),
            f"{count}: call again with {how}" if paging.has_more else None,
            None if page.data else empty,
        )

    return words
