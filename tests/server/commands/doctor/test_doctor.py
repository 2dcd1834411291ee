"""`callwright doctor`: what it says about a service and about a data folder, and that it never shows the key."""

import io
import os
import sqlite3
from collections.abc import Mapping
from contextlib import closing, suppress
from email.utils import formatdate
from pathlib import Path
from typing import Any

import anyio
import anyio.abc
import pytest
from filelock import FileLock
from rich.console import Console

from callwright.client.transport import ASGITransport, MockTransport, Request, Response
from callwright.contract.surface import OPERATIONS
from callwright.server.commands.doctor import disk
from callwright.server.commands.doctor import folder as doctor_folder
from callwright.server.commands.doctor.checkup import CheckResult, Report, Section, show
from callwright.server.commands.doctor.disk import LITTLE_FREE
from callwright.server.commands.doctor.doctor import report_of
from callwright.server.embedded.embedded import listener_on, listening
from callwright.server.settings import ProgramSettings, read_settings
from callwright.service.platform.data_folder import ADDRESS, LOCK
from callwright.service.platform.database.sqlite.disk_space import LEAST_FREE
from callwright.service.tables.migrations.upgrade import upgrade
from tests.fakes.minimal_service import KEY, MinimalService
from tests.support.processes.programs import run, serving

ORIGIN = "https://voice.example"
NOW = 1_800_000_000.0
WITH_TOOLS = {name for name, operation in OPERATIONS.items() if operation.no_tool is None}


def settings(base_url: str = f"{ORIGIN}/v1", key: str = KEY, **more: str) -> ProgramSettings:
    return read_settings({"CALLWRIGHT_BASE_URL": base_url, "CALLWRIGHT_API_KEY": key, **more})


async def looked(service: Any, base_url: str = f"{ORIGIN}/v1", key: str = KEY) -> Report:
    """What is found in a service that is reached without a network."""
    handler: Any = service
    transport = ASGITransport(app=service.asgi) if isinstance(service, MinimalService) else MockTransport(handler)
    with anyio.fail_after(10):
        return await report_of(settings(base_url, key), transport=transport, now=lambda: NOW)


def found(report: Report) -> Mapping[str, CheckResult]:
    """The findings by what they are about."""
    return {finding.what: finding for section in report.sections for finding in section.findings}


def text(report: Report) -> str:
    console = Console(file=io.StringIO(), width=100, record=True)
    show(report, console)
    return console.export_text()


async def test_a_minimal_service_works_partly_and_tools_say_how() -> None:
    report = await looked(MinimalService())
    tools = report.tools
    assert report.healthy
    assert tools["list_agents"] == tools["get_call"] == "partly"
    assert tools["get_transcript"] == tools["get_recording"] == "partly"
    assert tools["get_agent"] == tools["list_contacts"] == "absent"
    assert tools["create_agent"] == "unknown"
    assert set(tools) == WITH_TOOLS
    assert found(report)["Phone numbers"].said.startswith("read at /phone-numbers")


@pytest.mark.parametrize("prefix", ["/v1", "/api/v1"])
async def test_a_missing_prefix_is_named(prefix: str) -> None:
    report = await looked(MinimalService(prefix=prefix), ORIGIN)
    assert found(report)["Prefix"].state == "note"
    assert f"{ORIGIN}{prefix}" in found(report)["Prefix"].help


async def test_an_address_where_nothing_is_names_what_was_tried() -> None:
    report = await looked(MinimalService(prefix="/rest"), ORIGIN)
    assert not report.healthy
    assert found(report)["Prefix"].said.count("status 404") == 3
    assert report.tools == {}


async def test_a_refused_key_is_named_and_not_shown() -> None:
    wrong = "svc_live_" + "9" * 48
    report = await looked(MinimalService(), key=wrong)
    assert found(report)["Key"].said == "refused with status 401 invalid_api_key"
    assert not report.healthy
    assert wrong[9:] not in text(report)


async def test_the_key_is_in_no_report() -> None:
    for service in (MinimalService(), MinimalService(prefix="/rest")):
        assert KEY[9:20] not in text(await looked(service))


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (Response(200, html="<html>"), "not JSON"),
        (Response(301, headers={"location": "https://voice.example/home"}), "moved to https://voice.example/home"),
        (Response(503), "status 503"),
        (Response(429, json={"error": {"code": "too_many"}}), "status 429 too_many"),
    ],
)
async def test_other_answers_are_put_in_words(answer: Response, said: str) -> None:
    def service(request: Request) -> Response:
        return Response(answer.status_code, headers=answer.headers, content=answer.content)

    report = await looked(service)
    assert said in found(report)["Prefix"].said
    assert not report.healthy


@pytest.mark.parametrize(
    ("ahead", "state", "words"),
    [(2, "good", "as the service's"), (60, "note", "60 s ahead of"), (-400, "note", "400 s behind")],
)
async def test_the_clocks_are_compared(ahead: int, state: str, words: str) -> None:
    def service(request: Request) -> Response:
        return Response(401, headers={"date": formatdate(NOW - ahead, usegmt=True)})

    clock = found(await looked(service))["Clock"]
    assert (clock.state, words in clock.said) == (state, True)
    assert ("Signatures" in clock.help) == (abs(ahead) > 300)


async def test_the_document_tells_what_is_missing_and_what_is_new() -> None:
    body = {"content": {"application/json": {"schema": {"properties": {"mood": {"type": "string"}}}}}}
    document = {"paths": {"/v1/agents": {"get": {}, "post": {"requestBody": body}}}}
    report = await looked(MinimalService(document=document))
    assert found(report)["Description"].said == f"names 2 of {len(OPERATIONS)} operations"
    assert "get_agent" in found(report)["Description"].help
    assert found(report)["Own fields"].said == "tools gain arguments: create_agent: mood"
    assert report.tools["create_agent"] == "works"
    assert report.tools["update_agent"] == "absent"


async def test_a_service_on_a_socket_is_reached(tmp_path: Path) -> None:
    with anyio.fail_after(20), listener_on() as listener:
        async with listening(MinimalService().asgi, listener) as base_url:
            report = await report_of(settings(base_url))
    assert report.healthy
    assert "loopback" in found(report)["Name"].said
    assert "answers after" in found(report)["Connection"].said
    assert found(report)["TLS"].state == "good"


async def test_a_personal_key_is_told_from_a_wrong_one() -> None:
    finding = found(await looked(MinimalService(), key="svc_mcp_hunter2"))["Key"]
    assert (finding.state, "personal key" in finding.said) == ("bad", True)
    assert "callwright keys create" in finding.help
    assert "hunter2" not in str(finding)


async def test_https_at_a_port_without_tls_says_so() -> None:
    async with await anyio.create_tcp_listener(local_host="127.0.0.1") as listener:
        port = listener.extra(anyio.abc.SocketAttribute.local_port)

        async def plain(stream: anyio.abc.SocketStream) -> None:
            async with stream:
                with suppress(anyio.EndOfStream, anyio.BrokenResourceError):
                    await stream.receive()
                    await stream.send(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(listener.serve, plain)
            report = await report_of(settings(f"https://127.0.0.1:{port}/v1"))
            finding = found(report)["TLS"]
            assert (finding.state, "speaks no TLS" in finding.said) == ("bad", True)
            assert "http://" in finding.help
            tasks.cancel_scope.cancel()


async def test_a_port_where_nobody_listens_is_named() -> None:
    with listener_on() as listener:
        port = listener.getsockname()[1]
    with anyio.fail_after(20):
        report = await report_of(settings(f"http://127.0.0.1:{port}/v1"))
    assert found(report)["Connection"].said == f"nothing accepts connections at port {port}"
    assert not report.healthy


async def test_https_where_none_is_spoken_is_named() -> None:
    with anyio.fail_after(20), listener_on() as listener:
        async with listening(MinimalService().asgi, listener) as base_url:
            report = await report_of(settings(base_url.replace("http:", "https:")))
    assert found(report)["TLS"].state == "bad"


async def test_a_name_without_an_address_is_named() -> None:
    async def nowhere(host: str, port: int) -> list[str]:
        raise OSError("no such host")

    with anyio.fail_after(10):
        report = await report_of(settings("https://nowhere.example/v1"), resolve=nowhere)
    assert found(report)["Name"].said == "nowhere.example has no address"


# The data folder


async def here(data: Path, *, port: int = 0) -> Report:
    with anyio.fail_after(40):
        return await doctor_folder.report_of(read_settings({}, data=data), port=port)


async def test_a_folder_that_is_not_there_yet_is_not_made(tmp_path: Path) -> None:
    report = await here(tmp_path / "a" / "b")
    assert report.healthy
    assert found(report)["Folder"].said == "is made at the first start"
    assert os.listdir(tmp_path) == []


async def test_a_file_in_the_place_of_the_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("x")
    report = await here(tmp_path / "data")
    assert found(report)["Folder"].state == "bad"
    assert not report.healthy


@pytest.mark.parametrize(
    ("revision", "state", "words"),
    [("9999", "bad", "this program knows"), ("0001", "note", "the next start brings it to"), (None, "good", "empty")],
)
async def test_the_schema_of_the_database_is_told(tmp_path: Path, revision: str | None, state: str, words: str) -> None:
    with closing(sqlite3.connect(tmp_path / "callwright.db")) as connection, connection:
        if revision is not None:
            connection.execute("CREATE TABLE alembic_version (version_num TEXT)")
            connection.execute("INSERT INTO alembic_version VALUES (?)", (revision,))
    database = found(await here(tmp_path))["Database"]
    assert (database.state, words in database.said) == (state, True)


async def test_a_database_that_is_none_is_named(tmp_path: Path) -> None:
    (tmp_path / "callwright.db").write_bytes(b"no database" * 100)
    report = await here(tmp_path)
    assert found(report)["Database"].said.startswith("cannot be read: ")
    assert not report.healthy


@pytest.mark.parametrize("said", [None, "{", "address"])
async def test_a_folder_that_is_held_is_served_whatever_is_said_of_it(tmp_path: Path, said: str | None) -> None:
    with listener_on() as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
    if said is not None:
        written = f'{{"base_url": "{url}", "pid": 1}}' if said == "address" else said
        (tmp_path / ADDRESS).write_text(written, encoding="utf-8")
    with FileLock(tmp_path / LOCK, is_singleton=False):
        report = await here(tmp_path)
    served = found(report)["Served"]
    assert not report.healthy
    assert served.said.startswith("by a process that cannot be reached: ")
    assert (url if said == "address" else ADDRESS) in served.said
    after = found(await here(tmp_path))["Served"]
    assert (after.state, "by no process now" in after.said) == ("good", True)


async def test_a_port_that_is_taken_is_named(tmp_path: Path) -> None:
    with listener_on() as listener:
        report = await here(tmp_path, port=listener.getsockname()[1])
    assert found(report)["Port"].state == "note"
    assert report.healthy


# As people run it


def test_a_folder_that_is_served_is_healthy_and_its_service_works_whole(tmp_path: Path) -> None:
    with serving(tmp_path, tmp_path / "data") as service:
        folder = run(tmp_path, "doctor", "--data", tmp_path / "data")
        key = run(tmp_path, "keys", "create", "--data", tmp_path / "data", "--quiet").stdout.strip()
        remote = run(tmp_path, "doctor", "--base-url", service.base_url, CALLWRIGHT_API_KEY=key)
    assert (folder.returncode, folder.stderr) == (0, "")
    assert f"at {service.base_url}" in folder.stdout
    assert "up to date" in folder.stdout
    assert (remote.returncode, remote.stderr) == (0, "")
    assert key not in remote.stdout
    assert f"names {len(OPERATIONS)} of {len(OPERATIONS)} operations" in remote.stdout
    assert f"{len(WITH_TOOLS)} work" in remote.stdout


def test_what_has_to_be_put_right_ends_with_status_1(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("x")
    done = run(tmp_path, "doctor", "--data", tmp_path / "data")
    assert done.returncode == 1
    assert "to put right: Folder" in done.stdout


def test_a_report_reads_well() -> None:
    report = Report(
        about="https://voice.example/v1",
        sections=[
            Section(title="Service", findings=[CheckResult(state="note", what="Clock", said="late", help="Set it.")])
        ],
        tools={"list_agents": "works", "get_call": "partly"},
    )
    lines = [line.rstrip() for line in text(report).splitlines()]
    assert lines == [
        "Callwright doctor  https://voice.example/v1",
        "",
        "Service",
        "  ! Clock           late",
        "                    Set it.",
        "",
        "Tools",
        "  ✓ 1 work          list_agents",
        "  ! 1 work partly   get_call",
        "    Partly: the service shows fewer or other fields. Assistants get what it shows.",
        "",
        "✓ Callwright can work with this.",
    ]


async def test_little_room_is_noted_and_none_is_bad(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    free = [0]

    def told(_: Path) -> int:
        return free[0]

    monkeypatch.setattr(disk, "free_bytes", told)
    for bytes_free, state in (
        (LEAST_FREE - 1, "bad"),
        (LEAST_FREE, "note"),
        (LITTLE_FREE - 1, "note"),
        (LITTLE_FREE, "good"),
    ):
        free[0] = bytes_free
        report = await report_of(read_settings({}, data=tmp_path / "new" / "data"))
        assert found(report)["Disk"].state == state
        assert report.healthy == (state != "bad")


async def test_a_damaged_database_is_named(tmp_path: Path) -> None:
    file = tmp_path / "callwright.db"
    upgrade(f"sqlite:///{file}")
    assert found(await report_of(read_settings({}, data=tmp_path)))["Soundness"].state == "good"
    with closing(sqlite3.connect(file)) as connection:
        (page,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'wallets'").fetchone()
    with file.open("r+b") as damaged:
        damaged.seek(4_096 * (page - 1))
        damaged.write(b"\xff" * 4_096)
    report = await report_of(read_settings({}, data=tmp_path))
    assert found(report)["Soundness"].state == "bad"
    assert "docs/backups.md" in found(report)["Soundness"].help


async def test_a_check_that_would_take_long_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    upgrade(f"sqlite:///{tmp_path / 'callwright.db'}")
    monkeypatch.setattr(disk, "CHECK_LIMIT_S", -1.0)
    monkeypatch.setattr(disk, "_STEPS", 1)
    report = await report_of(read_settings({}, data=tmp_path))
    assert found(report)["Soundness"].state == "note"


@pytest.mark.parametrize("what", ["empty", "missing"])
async def test_a_database_that_is_gone_is_not_taken_for_new(tmp_path: Path, what: str) -> None:
    (tmp_path / "embedded.key").write_text("svc_live_1", encoding="utf-8")
    if what == "empty":
        (tmp_path / "callwright.db").touch()
    report = await report_of(read_settings({}, data=tmp_path))
    assert not report.healthy
    assert f"is {what}" in found(report)["Database"].said
    for command in (("serve", "--port=0"), ("keys", "create")):
        ended = run(tmp_path, *command, "--data", tmp_path)
        assert ended.returncode == 2
        assert f"is {what}" in ended.stderr
        assert "docs/backups.md" in ended.stderr
        assert "embedded.key" in ended.stderr
    assert (tmp_path / "callwright.db").exists() == (what == "empty")


async def test_an_empty_file_in_a_new_folder_is_no_obstacle(tmp_path: Path) -> None:
    (tmp_path / "callwright.db").touch()
    assert run(tmp_path, "orgs", "list", "--data", tmp_path).returncode == 0
