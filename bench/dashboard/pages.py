"""Measures each page of the dashboard at a million calls, beside the answers of REST that it is made of.

Both are processor times of whole requests in the same process and of Postgres, without a network: the fastest of some
runs. A page asks the operations in the process; what it asked is asked again over REST, with a key.
"""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import Any
from unittest.mock import patch

import anyio
from tests.support.dashboard import Visit, is_page, kind_of, reached

from bench.million.engines import Engine, backends, processor_times, since
from bench.million.walk_million import opened
from callwright.client.transport import ASGITransport, httpx
from callwright.service import accounts
from callwright.service.accounts import sessions
from callwright.service.app import Service
from callwright.service.rest.answers import Answer
from callwright.service.rest.incoming import Incoming
from callwright.service.rest.pipeline import RequestPipeline

AIM = 1.5
SHORT_S = 0.002
"""Pages that take less are not held to the aim: a page has its frame, and REST has none."""
RUNS = 15
_OF_PAGES = (200, 404)
"""What a page asks may be there no more: the agent of an old call."""
_ORIGIN = "http://bench"


@asynccontextmanager
async def _browser(service: Service, org: str) -> AsyncGenerator[Visit]:
    services = service.services
    email = "bench@example.com"
    now_ms = services.clock.now_ms()

    def owner(connection: Any) -> str:
        known = accounts.first_owner(connection, org)
        return known or accounts.add_member(connection, services.ids, org, email, now_ms, role="owner")

    user_id = await services.database.write(owner)
    code = await services.database.write(sessions.make_login_link, org, user_id, now_ms)
    async with httpx.AsyncClient(transport=ASGITransport(app=service.asgi), base_url=_ORIGIN) as http:
        answer = await http.post("/login", data={"code": code}, headers={"Origin": _ORIGIN})
        if answer.status_code != 303:
            raise RuntimeError(f"nobody could log in: {answer.status_code}")
        cookie = "; ".join(f"{name}={value}" for name, value in http.cookies.items())
    # A jar of cookies costs the client time in each request, which is no time of the page.
    async with httpx.AsyncClient(transport=ASGITransport(app=service.asgi), base_url=_ORIGIN) as http:
        http.headers["Cookie"] = cookie
        yield Visit(http)


async def _seconds(
    http: httpx.AsyncClient, path: str, processes: Sequence[int], *, known: Sequence[int] = (200,)
) -> float:
    """Seconds of processor time of a GET, with those of the processes of Postgres."""
    begun = processor_times(processes)
    answer = await http.get(path)
    taken = since(begun, processes)
    if answer.status_code not in known:
        raise RuntimeError(f"{path}: {answer.status_code} {answer.text[:200]}")
    return taken


async def _asked(http: httpx.AsyncClient, path: str) -> Sequence[str] | None:
    """The addresses of REST that a page asks; None where it asks with a body, as previews are."""
    found: list[str] = []
    methods: set[str] = set()
    real = RequestPipeline.answer

    async def noting(pipeline: RequestPipeline, incoming: Incoming) -> Answer:
        scope = incoming.scope
        methods.add(scope["method"])
        query = scope["query_string"].decode("ascii")
        found.append(f"{scope['path']}?{query}" if query else scope["path"])
        return await real(pipeline, incoming)

    with patch.object(RequestPipeline, "answer", noting):
        await http.get(path)
    return found if methods <= {"GET"} else None


async def page_times(engine: Engine, calls: int) -> None:
    """Prints each page that asks something, and how much more it takes than what it asks."""
    url = engine.database_url("many")
    folder = engine.folder / "many"
    await anyio.Path(folder).mkdir(parents=True, exist_ok=True)
    async with opened(folder, calls, url=url) as (service, rest, org), _browser(service, org) as visit:
        found = await reached(visit, of_each_kind=1)
        pages = [path for path, answer in found.items() if is_page(answer) and answer.status_code == 200]
        above = 0
        print(f"{'page, of ' + format(calls, ',') + ' calls':44} {'page':>9}  {'REST':>9}  ratio")
        for path in pages:
            asked = await _asked(visit.http, path)
            if not asked:
                continue
            processes = backends(url)
            runs = [
                (
                    await _seconds(visit.http, path, processes),
                    sum([await _seconds(rest, one, processes, known=_OF_PAGES) for one in asked]),
                )
                for _ in range(RUNS)
            ]
            ours, bare = (min(each) for each in zip(*runs, strict=True))
            is_above = ours > AIM * bare and ours > SHORT_S
            above += is_above
            note = "  above the aim" if is_above else ""
            print(
                f"{kind_of(path):44} {ours * 1e3:6.2f} ms  {bare * 1e3:6.2f} ms  {ours / bare:5.2f}{note}", flush=True
            )
        print(f"{above} of {len(pages)} pages above {AIM} times (and {SHORT_S * 1e3:.0f} ms)")
