"""The page about receiving events: its programs take what the service signs, and its figures are the service's."""

import hashlib
import hmac
import json
import queue
import re
import shlex
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import anyio
import pytest
import typer
from anyio import to_thread

from callwright.client.transport import ASGITransport, httpx
from callwright.server.commands.line import app as command_line
from callwright.service.platform.clock.clock import DAY, SECOND
from callwright.service.webhooks import outcomes, retry_schedule
from tests.support.service import Tenant
from tests.typescript_client.running import CLIENT, over_http

PAGE = (CLIENT.parents[1] / "docs" / "webhooks.md").read_text(encoding="utf-8")
SECRET, OLD = "whsec_" + "aB3-_" * 8, "whsec_" + "zY9-_" * 8
FRAMEWORKS = {"starlette": "import Starlette\n", "fastapi": "import BackgroundTasks, FastAPI", "flask": "import Flask,"}
WORK = "print(event.type, event.data)"
Send = Callable[[bytes, Mapping[str, str]], Awaitable[int]]


def programs(language: str) -> list[str]:
    """The programs of a language on the page."""
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def program(words: str) -> str:
    (found,) = (each for each in programs("python") if words in each)
    return found


def event(id_: str = "evt_1") -> bytes:
    envelope = {"id": id_, "type": "call.completed", "created_at": "2026-11-21T12:00:00.123Z", "org_id": "org_1"}
    return json.dumps({**envelope, "data": {"call_id": "cal_1"}}).encode()


def signed(body: bytes, *secrets: str, age_s: int = 0) -> dict[str, str]:
    """The headers of a delivery, made by hand as the page describes them."""
    at_s = str(int(time.time()) - age_s)
    digests = [hmac.new(each.encode(), at_s.encode() + b"." + body, hashlib.sha256).hexdigest() for each in secrets]
    told = ",".join([f"t={at_s}", *(f"v1={digest}" for digest in digests)])
    return {"Content-Type": "application/json", "X-Service-Signature": told}


def over_asgi(app: Any) -> Send:
    async def send(body: bytes, headers: Mapping[str, str]) -> int:
        async with httpx.AsyncClient(transport=ASGITransport(app=app), base_url="http://receiver") as client:
            return (await client.post("/events", content=body, headers=dict(headers))).status_code

    return send


def over_wsgi(app: Any) -> Send:
    async def send(body: bytes, headers: Mapping[str, str]) -> int:
        return (
            await to_thread.run_sync(lambda: app.test_client().post("/events", data=body, headers=headers))
        ).status_code

    return send


def running(framework: str, secrets: str, monkeypatch: pytest.MonkeyPatch) -> tuple[Send, "queue.Queue[Any]"]:
    """The program of a framework with these secrets, and what it works on."""
    monkeypatch.setenv("WEBHOOK_SECRETS", secrets)
    worked: queue.Queue[Any] = queue.Queue()
    text = program(FRAMEWORKS[framework])
    assert WORK in text
    namespace: dict[str, Any] = {"__name__": "receiver", "worked": worked}
    exec(compile(text.replace(WORK, "worked.put(event)"), "page", "exec"), namespace)
    return (over_wsgi if framework == "flask" else over_asgi)(namespace["app"]), worked


@pytest.mark.requirement("SIGN-05")
@pytest.mark.parametrize("framework", FRAMEWORKS)
async def test_the_program_on_the_page_takes_what_is_signed_and_refuses_all_else(
    framework: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    send, worked = running(framework, SECRET, monkeypatch)
    body = event()
    with anyio.fail_after(30):
        assert await send(body, signed(body, SECRET)) == 204
        assert (worked.get(timeout=10).id, worked.qsize()) == ("evt_1", 0)
        for refused in (
            await send(body + b" ", signed(body, SECRET)),
            await send(body, signed(body, OLD)),
            await send(body, signed(body, SECRET, age_s=301)),
            await send(body, signed(body, SECRET, age_s=-302)),
            await send(body, {"X-Service-Signature": "v1=0"}),
            await send(body, {}),
        ):
            assert refused == 401
        assert await send(body, signed(body, SECRET)) == 204  # once more: it is known
        assert await send(event("evt_2"), signed(event("evt_2"), SECRET, age_s=290)) == 204
        assert (worked.get(timeout=10).id, worked.qsize()) == ("evt_2", 0)


@pytest.mark.requirement("SIGN-07")
@pytest.mark.parametrize("framework", FRAMEWORKS)
async def test_the_program_on_the_page_goes_on_while_the_secret_is_replaced(
    framework: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    both, _ = running(framework, f"{SECRET} {OLD}", monkeypatch)
    for number, secrets in enumerate([(OLD,), (SECRET, OLD), (SECRET,)]):
        assert await both(event(f"evt_{number}"), signed(event(f"evt_{number}"), *secrets)) == 204
    new, _ = running(framework, SECRET, monkeypatch)
    assert await new(event(), signed(event(), SECRET, OLD)) == 204
    assert await new(event(), signed(event(), OLD)) == 401


async def test_the_subscription_on_the_page_is_made(
    tenant: Tenant, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with over_http(tenant.service.asgi) as base_url:
        text = program("client.webhooks.create").replace("http://127.0.0.1:8080/v1", base_url)
        assert base_url in text
        monkeypatch.setenv("CALLWRIGHT_API_KEY", tenant.api_key)
        await to_thread.run_sync(exec, compile(text, "page", "exec"), dict[str, Any]())
        (webhook,) = (await tenant.client.webhooks.list()).data
        assert (webhook.events, webhook.url) == (["call.completed"], "https://example.com/events")
        assert re.fullmatch(rf"{webhook.id} whsec_\S+\n", capsys.readouterr().out)
        assert [one.event_type for one in (await tenant.client.webhooks.list_deliveries(id=webhook.id)).data] == [
            "webhook.test"
        ]


def test_the_times_on_the_page_are_the_services() -> None:
    rows = {
        cells[0]: cells[1:] for line in PAGE.splitlines() if (cells := [cell.strip() for cell in line.split("|")[1:-1]])
    }
    gaps = [gap // SECOND for gap in retry_schedule.GAPS_MS]
    assert rows["seconds after the first"] == [str(sum(gaps[:count])) for count in range(len(gaps) + 1)]
    assert rows[f"gap before it, ±{retry_schedule.JITTER * 100:.0f} %"] == ["", *map(str, gaps)]
    assert (outcomes.FAILURES_UNTIL_DISABLED, outcomes.SILENCE_UNTIL_DISABLED_MS) == (20, 3 * DAY)
    assert "when 20 events in a row have failed" in PAGE
    assert "for three days" in PAGE


def test_the_commands_on_the_page_are_understood() -> None:
    lines = [line for text in programs("sh") for line in text.splitlines()]
    assert len(lines) == 3
    commands: Any = typer.main.get_command(command_line)
    listen = commands.commands["listen"]
    for line in lines:
        name, command, *arguments = shlex.split(line, comments=True)
        assert (name, command) == ("callwright", "listen")
        listen.make_context(command, arguments).close()


def test_links_on_the_page_lead_somewhere() -> None:
    found = re.findall(r"\]\(([^)]+)\)", PAGE)
    assert found
    for link in found:
        assert (CLIENT.parents[1] / "docs" / link).is_file(), link
