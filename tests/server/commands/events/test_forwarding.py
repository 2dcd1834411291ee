"""`callwright listen --forward`: what a local endpoint gets, and what is said of it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import httpx2 as httpx
import pytest

from callwright.client import verify
from callwright.client.transport import MockTransport, Request, Response
from callwright.contract.events import WEBHOOK_DISABLED as DISABLED
from callwright.contract.events import WebhookDisabled
from callwright.server.commands.command_error import CommandError
from callwright.server.commands.events import forwarding as event_forwarding
from callwright.server.commands.events.forwarding import Forwarding, local_url
from callwright.service.tables import outbox
from tests.support.commands.listening import SECRET, terminal
from tests.support.webhooks.delivering import Delivering, delivering

URL = "http://127.0.0.1:3000/events"


@dataclass
class LocalEndpoint:
    """An endpoint on this machine: answers with these statuses in turn, the last one for ever."""

    statuses: Sequence[int] = (204,)
    requests: list[Request] = field(default_factory=list[Request])

    def __call__(self, request: Request) -> Response:
        self.requests.append(request)
        return Response(self.statuses[min(len(self.requests), len(self.statuses)) - 1])

    def forwarding(self, at: Delivering) -> Forwarding:
        return Forwarding(URL, SECRET, at.clock.now_ms, MockTransport(self))


@pytest.mark.requirement("SIGN-01")
async def test_what_is_forwarded_is_what_the_service_sends(database_url: str, tmp_path: Path) -> None:
    async with delivering(database_url, tmp_path) as at:
        await at.subscribe(secret=SECRET)
        local = LocalEndpoint((204, 500, 401))
        shown = terminal(at.tenant.client, forwarding=local.forwarding(at))
        await shown.listener.begin()
        data = WebhookDisabled(
            webhook_id='whk_ü"\\\n\x7f\u2028😀', reason="manual", consecutive_failures=0, last_response_status=None
        )
        rows = [outbox.event_row(at.services.ids, at.tenant.org_id, DISABLED, data, at_ms=at.clock.now_ms() + 1)]
        await at.services.database.write(outbox.add_events, rows)
        await at.happen(simulated=True)
        await at.happen()
        lines = await shown.lines()
        assert sorted(line.split()[-4] for line in lines) == ["204", "401", "500"]
        await at.deliver()
        assert len(local.requests) == len(at.endpoints.requests) == 3
        sent = {request.headers["X-Service-Event-Id"]: request for request in at.endpoints.requests}
        for request in local.requests:
            body = request.content
            original = sent[
                verify(body, request.headers["x-service-signature"], SECRET, now_s=at.clock.now_ms() / 1e3).id
            ]
            assert body == original.body
            assert (str(request.url), request.method) == (URL, "POST")
            for name, value in original.headers.items():
                if name == "X-Service-Delivery-Id":
                    assert re.fullmatch(r"dlv_\w{24}", request.headers[name])
                else:
                    assert request.headers[name] == value
            assert request.headers.get("X-Service-Simulated") == original.headers.get("X-Service-Simulated")


async def test_a_local_endpoint_that_is_not_there_or_slow_is_said_and_holds_nobody_up(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def slow(request: Request) -> Response:
        await anyio.sleep_forever()
        raise AssertionError

    def absent(request: Request) -> Response:
        raise httpx.ConnectError("refused", request=request)

    def broken(request: Request) -> Response:
        raise httpx.ReadError("", request=request)

    monkeypatch.setattr(event_forwarding, "DEADLINE_S", 0.05)
    async with delivering(database_url, tmp_path) as at:
        for endpoint, words in ((slow, "no answer within 0.05 s"), (absent, "no connection"), (broken, "ReadError")):
            forwarding = Forwarding(URL, SECRET, at.clock.now_ms, MockTransport(endpoint))
            shown = terminal(at.tenant.client, forwarding=forwarding)
            await shown.listener.begin()
            await at.happen(20)
            with anyio.fail_after(20):
                lines = await shown.lines()
            assert len(lines) == 20
            assert all(words in line for line in lines)


@pytest.mark.parametrize(
    "url", ["http://localhost:3000/x", "https://localhost/", "http://127.1.2.3/", "http://[::1]:81/a?b=c"]
)
def test_events_are_forwarded_to_this_machine(url: str) -> None:
    assert local_url(url) == url


@pytest.mark.parametrize(
    "url",
    [
        "https://example.com/",
        "http://10.0.0.1/",
        "http://localhost.example.com/",
        "http://127.0.0.1.example.com/",
        "http://localhost@example.com/",
        "ftp://localhost/",
        "localhost:3000",
        "http://",
        "http://[::1",
        "",
    ],
)
def test_events_are_forwarded_nowhere_else(url: str) -> None:
    with pytest.raises(CommandError, match="on this machine"):
        local_url(url)
