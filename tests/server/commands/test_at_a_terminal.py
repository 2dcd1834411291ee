"""Commands at a terminal: bare `callwright` says what it is, and Ctrl-C ends a command without a word."""

from pathlib import Path

import pytest

from callwright.service.platform.data_folder import LOCK
from tests.support.commands.terminal import at_terminal
from tests.support.processes.programs import START_S, run, spawned, until


def test_bare_callwright_says_what_it_is_and_what_to_type(tmp_path: Path) -> None:
    with at_terminal(tmp_path) as terminal:
        assert terminal.ended() == 0
        assert terminal.shown.startswith("Callwright is a voice-agent platform")
        commands = [
            line.split("  ")[1].strip() for line in terminal.shown.splitlines() if line.startswith("  callwright")
        ]
        assert len(commands) == 5
        assert max(map(len, terminal.shown.splitlines())) <= 80
    assert not (tmp_path / ".callwright").exists()
    for command in commands:
        assert run(tmp_path, *command.split()[1:], "--help").returncode == 0


def test_bare_callwright_in_a_pipe_is_the_tool_server(tmp_path: Path) -> None:
    done = run(tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        (("demo", "--contacts=400", "--data=data"), "calling"),
        (("listen", "--data=data"), "Ctrl-C ends it"),
        (("serve", "--port=0", "--data=data"), "simulated"),
    ],
    ids=["demo", "listen", "serve"],
)
def test_ctrl_c_ends_a_command_without_a_traceback(
    command: tuple[str, ...], shown: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with at_terminal(tmp_path, *command) as terminal:
        terminal.until(shown)
        terminal.ctrl_c()
        status = terminal.ended()
    assert "Traceback" not in terminal.shown
    assert "Error" not in terminal.shown
    assert status == (130 if command[0] == "demo" else 0)


def test_ctrl_c_while_the_service_starts_is_quiet_too(tmp_path: Path) -> None:
    with at_terminal(tmp_path, "calls", "list", "--data", tmp_path / "data") as terminal:
        until((tmp_path / "data" / LOCK).exists, "the service starts")
        terminal.ctrl_c()
        status = terminal.ended()
    assert (status, terminal.shown.strip()) == (130, "")


def test_a_command_whose_reader_has_ended_ends_without_a_traceback(tmp_path: Path) -> None:
    words = ("demo", "--contacts=20", "--data", tmp_path / "data", "--out", tmp_path / "x.mp3")
    with spawned(tmp_path, *words) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.wait(START_S) == 1
        assert process.stderr.read() == b""


@pytest.mark.parametrize("noun", ["keys", "orgs", "users"])
def test_what_is_listed_fits_eighty_columns(noun: str, tmp_path: Path) -> None:
    data = tmp_path / "data"
    label = "--label=the tablet at the front desk"
    run(tmp_path, "keys", "create", "--personal", "--spending-cap=25.00", label, "--data", data)
    with at_terminal(tmp_path, noun, "list", "--data", data) as terminal:
        assert terminal.ended() == 0
    assert max(map(len, terminal.shown.splitlines())) <= 80
