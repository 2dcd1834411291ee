"""Compares asking a number's routing webhook with a bare aiohttp client that posts the same questions to an endpoint.

Callers come ten at a time, as they do on lines. Both clients keep their connections; ours signs each question, looks at
the address, reads the answer and keeps to its limit. The log is not part of it: it is written after the caller is
answered.
"""

import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from ipaddress import ip_network
from pathlib import Path
from statistics import median, quantiles

import aiohttp
import anyio
from tests.support.webhooks.endpoint_process import Sink, sink

from callwright.service.app import running
from callwright.service.inbound.routing.asking import RoutingWebhook
from callwright.service.inbound.routing.question import TYPE, Question
from callwright.service.platform.event_envelope import envelope
from callwright.service.settings import ServiceSettings

CALLERS, AT_ONCE = 200, 10
OPTIONS = {"use_uvloop": sys.platform != "win32"}
_HEADERS = {"Content-Type": "application/json", "User-Agent": "bench", "X-Service-Signature": "t=1,v1=" + "0" * 64}


def question(place: int, url: str) -> Question:
    """What is asked about one caller."""
    return Question(
        id=f"evt_{place:022}",
        org_id="org_0",
        number_id="num_0",
        url=url,
        secrets=("whsec_" + "s" * 32,),
        call_id=f"cal_{place:022}",
        from_="+14155550123",
        from_country="US",
        to="+12125550101",
        deployment_id="dep_0",
        agent_id="agt_0",
        simulated=False,
    )


async def timed(ask: Callable[[int], Awaitable[None]]) -> list[float]:
    """Milliseconds that each caller waited."""
    waited: list[float] = []

    async def one(place: int) -> None:
        begun = time.perf_counter()
        await ask(place)
        waited.append((time.perf_counter() - begun) * 1e3)

    for first in range(0, CALLERS, AT_ONCE):
        async with anyio.create_task_group() as tasks:
            for place in range(first, first + AT_ONCE):
                tasks.start_soon(one, place)
    return waited


async def ours(receiver: Sink) -> list[float]:
    """Asks as the service does."""
    with tempfile.TemporaryDirectory(prefix="callwright-bench-") as folder:
        opened = (ip_network("127.0.0.0/8"),)
        settings = ServiceSettings(
            data=Path(folder), database_url=f"sqlite:///{folder}/bench.db", webhook_networks=opened
        )
        async with running(settings, workers=False) as service:
            webhook = RoutingWebhook(service.services)
            await webhook.ready()

            async def ask(place: int) -> None:
                asked = await webhook.ask(question(place, f"{receiver.url}/ours"))
                if asked.outcome != "succeeded":
                    raise RuntimeError(f"a question came to nothing: {asked.detail}")

            await timed(ask)  # warm
            return await timed(ask)


async def bare(receiver: Sink) -> list[float]:
    """Posts the same questions."""
    async with aiohttp.ClientSession() as session:

        async def ask(place: int) -> None:
            body = envelope(f"evt_{place:022}", TYPE, 0, "org_0", question(place, "").data())
            async with session.post(f"{receiver.url}/bare", data=body, headers=_HEADERS) as answer:
                await answer.read()

        await timed(ask)  # warm
        return await timed(ask)


def p95(waited: Sequence[float]) -> float:
    """What one of twenty callers waits at least."""
    return quantiles(waited, n=20)[-1]


def p50(waited: Sequence[float]) -> float:
    """What half of the callers wait at least."""
    return median(waited)


def main(rounds: int = 3) -> None:
    """Measures both in turns, and prints the medians."""
    with sink() as receiver:
        pairs = [
            (
                anyio.run(ours, receiver, backend_options=OPTIONS),
                anyio.run(bare, receiver, backend_options=OPTIONS),
            )
            for _ in range(rounds)
        ]
    for of in (p50, p95):
        own, other = median(of(pair[0]) for pair in pairs), median(of(pair[1]) for pair in pairs)
        ratio = median(of(one) / of(two) for one, two in pairs)
        print(f"{f'routing webhook asked, {of.__name__}':34} {own:8.2f} ms  bare {other:8.2f} ms  ratio {ratio:5.2f}")


if __name__ == "__main__":
    main()
