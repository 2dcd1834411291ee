"""Tasks beside a test, with an end to the time that they may take."""

from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import anyio
from anyio.abc import TaskGroup


@asynccontextmanager
async def tasks_within(seconds: float) -> AsyncGenerator[TaskGroup]:
    """Tasks beside the block. It and they have so long together."""
    with anyio.fail_after(seconds):
        async with anyio.create_task_group() as tasks:
            yield tasks


async def all_at_once(times: int, work: Callable[[], Coroutine[Any, Any, object]], *, within_s: float) -> None:
    """Does the same so many times at the same time, and returns once all have ended."""
    async with tasks_within(within_s) as tasks:
        for _ in range(times):
            tasks.start_soon(work)
