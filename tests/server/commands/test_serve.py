"""`callwright serve` as an operator runs it: what it says, what it answers, and how it ends."""

import signal
import socket
from pathlib import Path

import httpx2 as httpx
import pytest

from tests.programs import START_S, Serving, run, serving


def with_key(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


def new_key(home: Path, data: Path) -> str:
    return run(home, "keys", "create", "--data", data, "--quiet").stdout.strip()


def asked(service: Serving, path: str, key: str = "") -> httpx.Response:
    return httpx.get(f"{service.root}{path}", headers=with_key(key) if key else {}, timeout=START_S)


def test_rest_its_description_and_the_health_check_are_served(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with serving(tmp_path, data) as service:
        assert asked(service, "/healthz").json() == {"status": "ok"}
        document = asked(service, "/openapi.json").json()
        assert document["openapi"].startswith("3.1")
        assert "/v1/agents" in document["paths"] or "/agents" in document["paths"]
        assert asked(service, "/v1/wallet").status_code == 401
        key = new_key(tmp_path, data)
        for prefix in ("/v1", "/api/v1"):
            assert asked(service, f"{prefix}/wallet", key).json()["data"]["play_money"] is True
        said = service.log.read_text(encoding="utf-8")
        assert service.base_url in said
        assert key not in said


def test_a_key_that_was_revoked_works_no_more(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with serving(tmp_path, data) as service:
        key = new_key(tmp_path, data)
        assert asked(service, "/v1/wallet", key).status_code == 200
        assert run(tmp_path, "keys", "revoke", key[:16], "--data", data).returncode == 0
        assert asked(service, "/v1/wallet", key).status_code == 401


@pytest.mark.parametrize("told", [signal.SIGTERM, signal.SIGINT], ids=["SIGTERM", "Ctrl-C"])
def test_it_ends_when_told_to_and_leaves_the_folder(told: signal.Signals, tmp_path: Path) -> None:
    data = tmp_path / "data"
    with serving(tmp_path, data) as service:
        before = service.log.read_text(encoding="utf-8")
        with httpx.Client(timeout=START_S) as waiting:  # a connection that is kept open does not hold it back
            assert waiting.get(f"{service.root}/healthz").status_code == 200
            assert (data / "service.json").exists()
            assert service.told(told) == 0
        assert service.log.read_text(encoding="utf-8") == before
        assert not (data / "service.json").exists()
    with serving(tmp_path, data) as again:
        assert asked(again, "/healthz").status_code == 200


def test_a_second_one_on_the_same_folder_says_so(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with serving(tmp_path, data) as service:
        second = run(tmp_path, "serve", "--port=0", "--data", data)
        assert (second.returncode, second.stdout) == (2, "")
        assert second.stderr == (
            f"callwright: another process serves the data folder {data}; give another --data, or stop it first\n"
        )
        assert asked(service, "/healthz").status_code == 200
        assert (data / "service.json").exists()


def test_a_port_that_is_taken_is_said_so(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = run(tmp_path, "serve", f"--port={port}", "--data", tmp_path / "data")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"callwright: cannot listen on 127.0.0.1:{port}: Address already in use")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("port", ["-1", "65536", "http"])
def test_a_port_that_is_none_is_refused(port: str, tmp_path: Path) -> None:
    done = run(tmp_path, "serve", f"--port={port}", "--data", tmp_path / "data")
    assert done.returncode == 2
    assert "--port" in done.stderr
    assert "Traceback" not in done.stderr
