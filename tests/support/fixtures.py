"""Fixtures out of context managers."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest

from callwright.service.settings import ServiceSettings

Value = TypeVar("Value")


@asynccontextmanager
async def held(opened: AbstractAsyncContextManager[Value]) -> AsyncGenerator[Value]:
    """Holds a context manager open in a task of its own until the block ends.

    pytest-asyncio runs the two halves of a fixture in two tasks, and the task that entered a task group must leave it.
    """
    entered: asyncio.Future[Value] = asyncio.get_running_loop().create_future()
    ended = asyncio.Event()

    async def hold() -> None:
        async with opened as value:
            entered.set_result(value)
            await ended.wait()

    task = asyncio.create_task(hold())
    await asyncio.wait([entered, task], return_when=asyncio.FIRST_COMPLETED)
    if not entered.done():
        await task
    yield entered.result()
    ended.set()
    await task


def service_options(request: pytest.FixtureRequest) -> dict[str, Any]:
    """What the test's mark `service` says; without one the workers of the service do not run.

    Its `settings` are those that differ from the defaults, by their names.
    """
    mark = request.node.get_closest_marker("service")
    given: dict[str, Any] = {"workers": False, **(mark.kwargs if mark else {})}
    if "settings" in given:
        given["settings"] = ServiceSettings(data=Path(), database_url="", **given["settings"])
    return given
