"""The time an endpoint has, on a clock that is moved by hand."""

import asyncio
from collections.abc import Callable

import anyio
import pytest

from callwright.contract.checks.address_ranges import LOOPBACK
from callwright.service.platform.outgoing.posted import Posted
from callwright.service.webhooks.transport.endpoints import Endpoints
from tests.support.loop_clock import moved_by_hand
from tests.support.webhooks.endpoints import saying, sink, status

LONG_S = 60.0
"""A deadline that no test reaches on the clock of the machine."""


@pytest.fixture
async def move(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Puts the event loop's clock forward."""
    return moved_by_hand(monkeypatch)


@pytest.mark.requirement("EVENT-03", "LIMIT-12")
@pytest.mark.parametrize(("after_s", "outcome"), [(4.5, "succeeded"), (5.0, "timeout")])
async def test_an_endpoint_has_five_seconds_to_answer(
    move: Callable[[float], None], after_s: float, outcome: str
) -> None:
    let_go = asyncio.Event()

    async def late(writer: asyncio.StreamWriter) -> None:
        await let_go.wait()
        await saying(status(204))(writer)

    posted: list[Posted] = []
    over = anyio.Event()
    async with sink(late) as target, Endpoints(opened=LOOPBACK) as endpoints:

        async def post() -> None:
            posted.append(await endpoints.post(target.url(), b"{}", {}, subscription="whk_1"))
            over.set()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(post)
            await target.arrivals.acquire()
            move(after_s)
            if after_s < 5:
                await anyio.wait_all_tasks_blocked()
                assert posted == []
                let_go.set()
            with anyio.fail_after(LONG_S):
                await over.wait()
    (only,) = posted
    assert (only.outcome, only.status) == (outcome, 204 if outcome == "succeeded" else None)
    assert only.duration_ms >= after_s * 1_000
    assert outcome == "succeeded" or only.detail == "The endpoint did not answer within 5 seconds."
