"""Made-up requests in the suite: fewer than `scripts/fuzz` sends, and the same ones at every run."""

import io
import socket
import time
from pathlib import Path
from typing import Any

import pytest
import requests
from requests.adapters import BaseAdapter
from urllib3 import HTTPResponse

from callwright.contract.surface import OPERATIONS
from tests.fuzz.report import report
from tests.fuzz.run import fuzzed
from tests.fuzz.service import IN_PROCESS, opened

CASES = 1_100
SEED = 2
LIMIT_S = 60.0
LOOPBACK = ("127.0.0.1", "::1", "localhost")


def test_every_answer_to_made_up_requests_is_as_described(database_url: str, tmp_path: Path) -> None:
    with opened(database_url, tmp_path, workers=False) as service:
        figures = fuzzed(service, cases=CASES, seed=SEED)
    assert figures.findings == {}, report(figures)
    assert figures.cases == CASES
    assert figures.over_loopback > 0
    assert len(figures.statuses) == len(OPERATIONS)
    done = sum(count for counted in figures.statuses.values() for status, count in counted.items() if status < 300)
    assert done > CASES / 8, report(figures)


@pytest.mark.parametrize("host", ["events.example.com", "8.8.8.8", "[2606:4700:4700::1111]"])
def test_nothing_is_sent_to_a_made_up_subscription(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    left: list[object] = []
    connect, look_up = socket.socket.connect, socket.getaddrinfo

    def connecting(one: socket.socket, address: Any) -> None:
        if one.family != socket.AF_UNIX and address[0] not in LOOPBACK:
            left.append(address)
            raise ConnectionRefusedError
        connect(one, address)

    def looking_up(name: Any, *rest: Any, **named: Any) -> Any:
        if name not in LOOPBACK:
            left.append(name)
            raise socket.gaierror(socket.EAI_NONAME, "no such name")
        return look_up(name, *rest, **named)

    monkeypatch.setattr(socket.socket, "connect", connecting)
    monkeypatch.setattr(socket, "getaddrinfo", looking_up)
    with opened(database_url, tmp_path, workers=True) as service:
        session, base = service.session, f"{service.in_process}/v1/webhooks"
        made = session.post(base, json={"url": f"https://{host}/events", "events": ["wallet.low_balance"]}).json()[
            "data"
        ]
        over: list[str] = []
        for _ in range(4):
            tried = session.post(f"{base}/{made['id']}/test").json()["data"]
            until = time.monotonic() + LIMIT_S
            while tried["status"] == "pending" and time.monotonic() < until:
                tried = session.get(f"{base}/{made['id']}/deliveries/{tried['id']}").json()["data"]
            over.append(tried["last_outcome"])
    assert over == ["succeeded", "server_error", "rejected", "timeout"]
    assert left == []


class Lying(BaseAdapter):
    """Changes some answers on their way."""

    def __init__(self, honest: BaseAdapter) -> None:
        super().__init__()
        self._honest = honest

    def send(self, request: requests.PreparedRequest, *_: Any, **__: Any) -> requests.Response:
        """An answer, not always the one that was given."""
        answer = self._honest.send(request)
        path = request.path_url.partition("?")[0]
        if answer.status_code != 200 or "X-Schemathesis-TestCaseId" not in request.headers:
            return answer
        if path == "/v1/agents":
            answer.status_code = 503
        elif path == "/v1/audiences":
            answer.status_code = 418
        elif path == "/v1/voices":
            answer.raw.headers.discard("x-request-id")
        elif path == "/v1/deployments":
            answer.raw.headers["content-type"] = "text/html"
        elif path == "/v1/phone_numbers":
            answer.raw.headers.discard("content-length")
            answer.raw = HTTPResponse(io.BytesIO(b'{"data":{}}'), answer.raw.headers, 200, preload_content=False)
        elif path == "/v1/wallet":
            raise requests.ConnectionError("nobody is there")
        return answer

    def close(self) -> None:
        self._honest.close()


def test_answers_that_are_not_as_described_are_found(tmp_path: Path) -> None:
    lies = {
        "GET /v1/agents": "Server error (503)",
        "GET /v1/audiences": "Undocumented status code (418)",
        "GET /v1/voices": "Custom check failed: `envelope` (200)",
        "GET /v1/deployments": "Undocumented Content-Type (200)",
        "GET /v1/phone_numbers": "Response violates schema (200)",
        "GET /v1/wallet": "no answer: ConnectionError",
    }
    with opened(f"sqlite:///{tmp_path / 'callwright.db'}", tmp_path, workers=False) as service:
        service.session.mount(f"{IN_PROCESS}/v1/", Lying(service.session.get_adapter(IN_PROCESS)))
        figures = fuzzed(service, cases=200, seed=SEED, only=[*lies, "GET /v1/voices/{id}"])
    said = report(figures)
    assert lies.items() <= set(figures.findings), said
    assert {operation for operation, _ in figures.findings} == set(lies), said
    assert "curl -X GET" in said
    assert "svc_live_" not in said
