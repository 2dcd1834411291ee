"""A list, page by page or entry by entry."""

from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from typing import Any, Generic, TypeVar

from callwright.client.errors import UnexpectedAnswer
from callwright.client.request import asked_with
from callwright.contract.declaration.model import Input, Resource
from callwright.contract.declaration.operation import Operation
from callwright.contract.declaration.pagination import Page

Item = TypeVar("Item", bound=Resource)

WALK_PER_PAGE = 200
"""Entries per request of a walk when the caller names no `per_page`: the most a page may have."""


class Listing(Generic[Item]):
    """A list that has not been requested yet.

    `await listing` gives the one page that was asked for. `async for entry in listing` gives every entry from there on,
    and `listing.pages()` every page, following `next_cursor`. Entries that are added meanwhile cause no repeats and no
    gaps. Every await or loop asks the service again.
    """

    def __init__(
        self,
        ask: Callable[[Operation[..., Any, Page[Item]], Input], Coroutine[Any, Any, Page[Item]]],
        operation: Operation[..., Any, Page[Item]],
        asked: Input,
    ) -> None:
        self._ask, self._operation, self._asked = ask, operation, asked

    def __await__(self) -> Generator[Any, Any, Page[Item]]:
        return self._ask(self._operation, self._asked).__await__()

    async def __aiter__(self) -> AsyncGenerator[Item, None]:
        async for page in self.pages():
            for entry in page.data:
                yield entry

    async def pages(self) -> AsyncGenerator[Page[Item], None]:
        """Every page from the one asked for.

        Raises:
            UnexpectedAnswer: the service says that more follows but gives no cursor, or one that it gave before.
        """
        given = {name: getattr(self._asked, name) for name in self._asked.model_fields_set}
        given.setdefault("per_page", WALK_PER_PAGE)
        seen: set[str] = set()
        while True:
            page = await self._ask(self._operation, asked_with(self._operation, given))
            yield page
            if not page.pagination.has_more:
                return
            cursor = page.pagination.next_cursor
            if cursor is None or cursor in seen:
                way = "without next_cursor" if cursor is None else "with a next_cursor given before"
                raise UnexpectedAnswer(f"a page of {self._operation.name} says that more follows, {way}")
            seen.add(cursor)
            given = {name: value for name, value in given.items() if name != "page"} | {"cursor": cursor}
