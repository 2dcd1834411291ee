"""Many requests with one idempotency key at once, through real HTTP, also when a process is killed among them.

SQLite is served by one process, Postgres by two.
"""

import os
import signal
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import httpx2 as httpx
import pytest
from sqlalchemy import Connection, func, select

from callwright.service.platform.database.database import Database
from callwright.service.tables.schema import audit_log, idempotency_keys
from tests.support import resources
from tests.support.database.databases import Engine
from tests.support.processes.programs import START_S, Serving, serving
from tests.support.service import open_service

MANY = 200
ONCE = {"Idempotency-Key": "once", "Content-Type": "application/json"}
AGENT = {"name": "Bea", "voice_id": "en-US-ada", "language": "en-US", "system_prompt": "Say hello."}
AUDIENCE = {"name": "Guests"}
LIMIT_S = 90
EARLIER = [pytest.param(answers, marks=pytest.mark.long) for answers in (0, 1)]
SIMPLER = [pytest.param(path, marks=pytest.mark.long) for path in ("/agents", "/audiences")]


@dataclass
class Front:
    """The processes that serve one database. One of them can be killed; then another takes its place."""

    home: Path
    database_url: str
    stack: ExitStack
    serving: list[Serving] = field(default_factory=list[Serving])

    def start(self) -> None:
        """One process more. On SQLite all have one folder, of which only one at a time can be served."""
        is_sqlite = self.database_url.startswith("sqlite")
        data = self.home / ("data" if is_sqlite else f"data-{len(self.serving)}")
        url = self.database_url.replace("postgresql+psycopg://", "postgresql://")
        self.serving.append(self.stack.enter_context(serving(self.home, data, CALLWRIGHT_DATABASE_URL=url)))

    def kill_first(self) -> None:
        """Kills the first process; where there was no other one, starts one."""
        killed = self.serving.pop(0)
        os.kill(killed.process.pid, signal.SIGKILL)
        assert killed.process.wait(START_S) == -signal.SIGKILL
        if not self.serving:
            self.start()

    def address(self, number: int) -> str:
        """Which process a request goes to."""
        return self.serving[number % len(self.serving)].base_url


@contextmanager
def fronted(home: Path, database_url: str, processes: int) -> Generator[Front]:
    """So many processes."""
    with ExitStack() as stack:
        front = Front(home, database_url, stack)
        for _ in range(processes):
            front.start()
        yield front


@dataclass
class Made:
    """What the organization has, to make something of: its key, and a body for each path."""

    api_key: str
    bodies: dict[str, dict[str, Any]]


async def prepared(database_url: str, folder: Path) -> Made:
    """An organization without a limit of requests."""
    async with open_service(database_url, folder / "before", workers=False) as tenant:
        agent, audience, number = (
            await resources.agent(tenant),
            await resources.audience(tenant),
            await resources.number(tenant),
        )
        deployment = {
            "name": "Reminders",
            "agent_id": agent.id,
            "audience_id": audience.id,
            "phone_number_id": number.id,
        }
        return Made(tenant.api_key, {"/agents": AGENT, "/audiences": AUDIENCE, "/deployments": deployment})


@dataclass
class Sent:
    """Requests that are on their way, and the answers that have come."""

    front: Front
    http: httpx.AsyncClient
    path: str
    body: dict[str, Any]
    answers: list[httpx.Response] = field(default_factory=list[httpx.Response])
    from_whom: Counter[int | None] = field(default_factory=Counter[int | None])
    under_way: int = 0
    lost: int = 0

    async def send(self, number: int) -> None:
        """Sends the request again until it is answered, as a client does that gets no answer."""
        while True:
            self.under_way += 1
            try:
                answer = await self.http.post(self.front.address(number) + self.path, json=self.body, headers=ONCE)
            except httpx.TransportError:
                self.lost += 1
                number += 1
                await anyio.sleep(0.05)  # until another process serves
                continue
            if answer.status_code == 409 and answer.json()["error"]["code"] == "idempotency_in_progress":
                await anyio.sleep(int(answer.headers["retry-after"]))
                continue
            self.answers.append(answer)
            self.from_whom[answer.request.url.port] += 1
            return

    async def refused_meanwhile(self, number: int) -> None:
        """The same key with another body is another request, once the first one has its answer."""
        await self.until(lambda: bool(self.answers))
        other = {**self.body, "name": f"Another {number}"}
        try:
            answer = await self.http.post(self.front.address(number) + self.path, json=other, headers=ONCE)
        except httpx.TransportError:
            return
        assert (answer.status_code, answer.json()["error"]["code"]) == (422, "idempotency_key_reused")

    async def until(self, met: Callable[[], bool]) -> None:
        """Returns once something has happened here."""
        while not met():  # noqa: ASYNC110  # what happens, happens between the requests
            await anyio.sleep(0.001)


async def check_one(database_url: str, sent: Sent, first_may_be_lost: bool) -> None:
    """One resource, one audit entry, one key, equal answers."""
    answers = sent.answers
    assert Counter(answer.status_code for answer in answers) == {201: MANY}
    assert {answer.content for answer in answers} == {answers[0].content}
    assert {answer.headers["location"] for answer in answers} == {f"/v1{sent.path}/{answers[0].json()['data']['id']}"}
    assert len({answer.headers["x-request-id"] for answer in answers}) == MANY
    replays = Counter(answer.headers.get("idempotent-replayed") for answer in answers)
    assert replays in ([{"true": MANY - 1, None: 1}] + ([{"true": MANY}] if first_may_be_lost else []))
    named = {"filter[name]": sent.body["name"]}
    listed = (await sent.http.get(sent.front.address(0) + sent.path, params=named)).json()["data"]
    assert [entry["id"] for entry in listed] == [answers[0].json()["data"]["id"]]
    whole = (await sent.http.get(sent.front.address(0) + sent.path)).json()["pagination"]["total"]
    assert whole == (1 if sent.path == "/deployments" else 2)

    def kept(connection: Connection) -> tuple[list[str], int]:
        action = audit_log.c.action == {"/agents": "create_agent", "/deployments": "create_deployment"}.get(
            sent.path, "create_audience"
        )
        about = select(audit_log.c.subject).where(action, audit_log.c.request_id.is_not(None))
        keys = select(func.count()).select_from(idempotency_keys).where(idempotency_keys.c.key == "once")
        return list(connection.execute(about).scalars()), connection.execute(keys).scalar_one()

    async with Database.opened(database_url) as database:
        subjects, keys = await database.read(kept)
    assert [subject for subject in subjects if subject == listed[0]["id"]] == [listed[0]["id"]]
    assert (len(subjects), keys) == (whole, 1)


async def journey(
    database_url: str, folder: Path, engine: Engine, path: str, *, killed_after: int | None = None
) -> Sent:
    """Sends so many requests at once.

    With `killed_after` the second half of them is sent once so many are answered, and a process killed right then.
    """
    made = await prepared(database_url, folder)
    headers = {"Authorization": f"Bearer {made.api_key}"}
    limits = httpx.Limits(max_connections=MANY + 20, max_keepalive_connections=MANY + 20)
    with fronted(folder, database_url, 1 if engine == "sqlite" else 2) as front, anyio.fail_after(LIMIT_S):
        async with httpx.AsyncClient(headers=headers, limits=limits, timeout=START_S) as http:
            sent = Sent(front, http, path, made.bodies[path])
            async with anyio.create_task_group() as tasks:
                for number in range(MANY // 2):
                    tasks.start_soon(sent.send, number)
                for number in range(10):
                    tasks.start_soon(sent.refused_meanwhile, number)
                if killed_after:
                    await sent.until(lambda: len(sent.answers) >= killed_after)
                for number in range(MANY // 2, MANY):
                    tasks.start_soon(sent.send, number)
                if killed_after is not None:
                    await sent.until(lambda: sent.under_way >= MANY)
                    front.kill_first()
            await check_one(database_url, sent, first_may_be_lost=killed_after is not None)
    return sent


@pytest.mark.requirement("IDEM-02", "IDEM-04", "IDEM-05", "IDEM-07", "IDEM-16")
@pytest.mark.parametrize("path", [*SIMPLER, "/deployments"])
async def test_two_hundred_requests_at_once_make_one_resource(
    engine: Engine, database_url: str, tmp_path: Path, path: str
) -> None:
    sent = await journey(database_url, tmp_path, engine, path)
    assert sent.lost == 0
    assert set(sent.from_whom.values()) == ({MANY} if engine == "sqlite" else {MANY // 2})


@pytest.mark.requirement("IDEM-15", "IDEM-16", "IDEM-08")
@pytest.mark.parametrize("killed_after", [*EARLIER, MANY // 2])
async def test_they_make_one_resource_when_a_process_is_killed_among_them(
    engine: Engine, database_url: str, tmp_path: Path, killed_after: int
) -> None:
    path = "/deployments" if killed_after else "/agents"
    sent = await journey(database_url, tmp_path, engine, path, killed_after=killed_after)
    assert sent.lost > 0, "the process had answered everything before it died"
