"""Greenlets in which synchronous work waits for the event loop, kept for one piece of work after another.

A new greenlet takes memory from the system and gives it back, which costs more than most statements.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar, cast

from greenlet import GreenletExit, getcurrent, greenlet

T = TypeVar("T")


class _Done(NamedTuple):
    result: Any
    error: BaseException | None


class Runner(greenlet):
    """Runs one piece of work at a time, in which SQLAlchemy's `await_` waits."""

    __sqlalchemy_greenlet_provider__ = True

    def __init__(self) -> None:
        super().__init__(self._work)

    def _work(self, work: Callable[[], Any]) -> None:
        while True:
            try:
                done = _Done(work(), None)
            except GreenletExit:
                raise
            except BaseException as error:
                done = _Done(None, error)
            assert self.parent is not None
            work = self.parent.switch(done)
            del done

    async def spawn(self, work: Callable[[], T]) -> T:
        """What the work returns or raises. It may be cancelled where it waits."""
        current = getcurrent()
        self.parent, self.gr_context = current, current.gr_context
        said: Any = self.switch(work)
        while not isinstance(said, _Done):
            try:
                answer: Any = await said
            except BaseException as error:
                said = self.throw(error)
            else:
                said = self.switch(answer)
        if said.error is not None:
            raise said.error
        return cast("T", said.result)
