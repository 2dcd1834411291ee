"""`callwright lines`: its port takes the sound of calls and answers nothing else."""

import socket
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import httpx2 as httpx
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from tests.support.processes.programs import START_S, run, spawned, until
from tests.support.twilio.account import SID, TOKEN, signature

ELSEWHERE = "http://127.0.0.1:9"
"""Nothing listens there."""
ENDS = ("", "cal_1", "cal_1/token", "%00/%00", "%ff%fe/%ed%a0%80", f"{'a' * 4_000}/{'b' * 4_000}", "../../v1/agents")


@contextmanager
def lines(database_url: str, home: Path) -> Generator[str]:
    """The process, until the block ends; the address of its port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    settings = {
        "CALLWRIGHT_DATABASE_URL": database_url,
        "CALLWRIGHT_DATA": str(home / "data"),
        "CALLWRIGHT_PUBLIC_URL": ELSEWHERE,
        "CALLWRIGHT_LINES_URL": f"http://127.0.0.1:{port}",
        "CALLWRIGHT_TWILIO_ACCOUNT_SID": SID,
        "CALLWRIGHT_TWILIO_AUTH_TOKEN": TOKEN,
        "CALLWRIGHT_TWILIO_API_BASE": ELSEWHERE,
        "CALLWRIGHT_LINES": "1",
    }
    log = home / "log"
    with log.open("wb") as errors, spawned(home, "lines", f"--port={port}", stderr=errors, settings=settings) as made:
        until(lambda: "carries up to" in log.read_text(encoding="utf-8") or made.poll() is not None, "it runs")
        assert made.poll() is None, log.read_text(encoding="utf-8")
        yield f"127.0.0.1:{port}"
        assert made.poll() is None, "it has ended"
        assert "Traceback" not in log.read_text(encoding="utf-8")


def bytes_answered(address: str, sent: bytes) -> bytes:
    """The first line that comes back."""
    host, _, port = address.rpartition(":")
    with socket.create_connection((host, int(port)), timeout=START_S) as connection:
        connection.sendall(sent)
        with connection.makefile("rb") as answer:
            return answer.readline()


@pytest.mark.requirement("TWILIO-11")
@pytest.mark.parametrize("engine", ["postgres"], indirect=True)  # several processes share no SQLite
def test_the_port_of_lines_takes_the_sound_of_calls_and_nothing_else(database_url: str, tmp_path: Path) -> None:
    made = ("--database", database_url, "--data", tmp_path / "data")
    run(tmp_path, "orgs", "create", "acme", *made)
    key = run(tmp_path, "keys", "create", "--org", "acme", "--quiet", *made).stdout.strip()
    assert key.startswith("svc_live_")
    with lines(database_url, tmp_path) as address, httpx.Client(base_url=f"http://{address}", timeout=START_S) as http:
        for path in ("/", "/healthz", "/metrics", "/openapi.json", "/v1/agents", "/api/v1/agents", "/mcp", "/talk"):
            answer = http.get(path, headers={"Authorization": f"Bearer {key}"})
            assert (answer.status_code, answer.text) == (404, "Only the sound of calls comes here.\n"), path
        form = {"CallSid": "CA" + "0" * 32, "CallStatus": "busy"}
        for path in ("answer", "status", "amd", "person/taken", "media/cal_1/token"):
            url = f"/lines/twilio/{path}?call=cal_1&t=token"
            for signed in (signature(f"{ELSEWHERE}{url}", form), signature(f"http://{address}{url}", form)):
                answer = http.post(url, data=form, headers={"X-Twilio-Signature": signed})
                assert answer.status_code == 404, url
        for path in ("", "v1/agents", "talk/token", *(f"lines/twilio/media/{end}" for end in ENDS)):
            for more in ({}, {"X-Twilio-Signature": signature(f"ws://{address}/{path}", {})}):
                with pytest.raises(InvalidStatus) as refused:
                    connect(f"ws://{address}/{path}", additional_headers=more, proxy=None)
                assert refused.value.response.status_code in (403, 404), path
        for sent in (b"\x16\x03\x01\x02\x00\x01\x00\n\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n"):
            assert bytes_answered(address, sent).startswith(b"HTTP/1.1 4"), sent
        large = b"GET / HTTP/1.1\r\nHost: x\r\nX-Large: " + b"a" * 200_000 + b"\r\n\r\n"
        assert bytes_answered(address, large)[:10] in (b"HTTP/1.1 4", b"")
