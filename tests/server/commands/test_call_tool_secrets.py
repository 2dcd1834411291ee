"""`callwright agents secret`: the value comes through a pipe, and is printed nowhere."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.support.commands.words import refused, said
from tests.support.processes.programs import STOP_S, spawned

SECRET = "Bearer th1s-is-the-s3cret-of-the-tests"
TOOL = {
    "type": "http",
    "name": "free_times",
    "description": "Free times.",
    "url": "https://calendar.example.com/free",
    "secret_headers": ["Authorization"],
}


@pytest.mark.requirement("CALLTOOL-09")
def test_a_secret_through_a_pipe_is_set_and_never_shown(tmp_path: Path) -> None:
    made = json.loads(
        said(
            tmp_path,
            "call",
            "create_agent",
            json.dumps({"name": "Ada", "language": "en-US", "system_prompt": "Hi."}),
            "--json",
        )
    )
    agent_id = made["id"]
    tools = {"agent_id": agent_id, "call_tools": [TOOL]}
    said(tmp_path, "call", "set_call_tools", json.dumps(tools))
    words = ("agents", "secret", "Ada", "free_times", "Authorization", "--data", tmp_path / "data")
    with spawned(tmp_path, *words, stdin=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(f"{SECRET}\n".encode())
        process.stdin.close()
        shown = process.stdout.read().decode()
        assert process.wait(STOP_S) == 0
    assert shown == (
        "The secret header Authorization of free_times is set. It is sent to https://calendar.example.com alone.\n"
    )
    found = said(tmp_path, "call", "get_agent", json.dumps({"agent_id": agent_id}), "--json")
    assert SECRET not in found
    assert json.loads(found)["call_tool_secrets"][0]["is_set"] is True
    wrong = ("agents", "secret", agent_id, "nobody", "Authorization", "--data", tmp_path / "data")
    assert "there are free_times" in refused(tmp_path, *wrong)
