"""`callwright call`: every tool, as an assistant calls it, with the same refusals."""

import json
import subprocess
from pathlib import Path

import pytest

from callwright.server.commands.tool_commands.declared import declared_tools
from tests.support.processes.programs import STOP_S, run, serving, spawned


def test_without_a_tool_it_lists_each_with_a_line(tmp_path: Path) -> None:
    done = run(tmp_path, "call")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert [line.split()[0] for line in lines if line.startswith("  ")] != []
    assert {line.split()[0] for line in lines if line.startswith("  ")} == set(declared_tools())
    assert max(map(len, lines)) <= 80


def test_the_help_of_a_tool_says_what_it_takes(tmp_path: Path) -> None:
    said = run(tmp_path, "call", "create_webhook", "--help").stdout
    assert said.startswith("Usage: callwright call create_webhook url=… events=… [NAME=VALUE]...")
    assert "(text, required)" in said
    assert max(map(len, said.splitlines())) <= 80


def test_the_answer_is_what_a_model_reads_or_with_json_the_data(called: Path, tmp_path: Path) -> None:
    words = run(tmp_path, "call", "list_calls", "per_page=2", "outcome=answered", "--data", called)
    assert (words.returncode, words.stderr) == (0, "")
    assert "<untrusted-" in words.stdout
    data = run(tmp_path, "call", "list_calls", '{"per_page": 2, "outcome": ["answered"]}', "--json", "--data", called)
    found = json.loads(data.stdout)
    assert len(found["data"]) == 2
    assert all(call["id"] in words.stdout for call in found["data"])
    assert "•••" in found["data"][0]["to"]


def test_numbers_are_whole_when_that_is_asked_for(called: Path, tmp_path: Path) -> None:
    asked = ("call", "list_calls", "per_page=1", "--json", "--data", called)
    assert "•••" not in run(tmp_path, *asked, "--reveal-numbers").stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("get_call",), "call_id: required"),
        (("get_call", "call_uuid=cal_1"), "list_calls shows what exists"),
        (("get_wallet", "colour=red"), "colour: unknown argument"),
        (("list_calls", "per_page=many"), "per_page"),
        (("get_agent", "id=Nobody"), 'no agent is called "Nobody"'),
    ],
)
def test_a_tool_refuses_with_its_own_words_on_stderr_and_status_1(
    words: tuple[str, ...], said: str, called: Path, tmp_path: Path
) -> None:
    done = run(tmp_path, "call", *words, "--data", called)
    assert (done.returncode, done.stdout) == (1, "")
    assert said in done.stderr


def test_a_tool_that_does_not_exist_is_refused_with_those_that_are_near(tmp_path: Path) -> None:
    done = run(tmp_path, "call", "list_cals")
    assert (done.returncode, done.stdout) == (2, "")
    assert "did you mean list_calls" in done.stderr
    assert not (tmp_path / ".callwright").exists()


def test_a_tool_that_the_environment_switches_off_does_not_run(called: Path, tmp_path: Path) -> None:
    done = run(tmp_path, "call", "delete_agent", "id=x", "--data", called, CALLWRIGHT_PROFILE="analyst")
    assert (done.returncode, done.stdout) == (2, "")
    assert "CALLWRIGHT_PROFILE" in done.stderr


def test_arguments_come_from_standard_input(called: Path, tmp_path: Path) -> None:
    words = ("call", "list_agents", "-", "--json", "--data", called)
    with spawned(tmp_path, *words, stdin=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b'{"per_page": 1}')
        process.stdin.close()
        found = json.loads(process.stdout.read())
        assert process.wait(STOP_S) == 0
    assert len(found["data"]) == 1


def test_a_service_elsewhere_is_called_with_its_key(tmp_path: Path) -> None:
    key = run(tmp_path, "keys", "create", "--quiet", "--data", tmp_path / "data").stdout.strip()
    with serving(tmp_path, tmp_path / "data") as service:
        there = {"CALLWRIGHT_BASE_URL": service.base_url, "CALLWRIGHT_API_KEY": key}
        made = run(tmp_path, "audiences", "create", "--name=Guests", "--json", **there)
        assert made.returncode == 0, made.stderr
        assert "Guests" in run(tmp_path, "call", "list_audiences", **there).stdout
        unknown = run(tmp_path, "call", "list_audiences", "colour=red", **there)
        assert (unknown.returncode, unknown.stdout) == (1, "")
        assert "colour: unknown argument" in unknown.stderr
    assert not (tmp_path / ".callwright").exists()
