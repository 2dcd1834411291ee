"""One trial of an assistant: a copy of a state, a server in front of it, and a log of what the assistant asked.

    python -m bench.assistants.trial begin TASK (callwright|openapi) FOLDER
    python -m bench.assistants.trial tools FOLDER [NAME]
    python -m bench.assistants.trial call FOLDER NAME [JSON]
    python -m bench.assistants.trial definitions FOLDER
    python -m bench.assistants.trial end FOLDER

An assistant gets the task that `begin` prints, and may use `tools` and `call` alone. `end` stops the servers and prints
the calls, and the tokens of their results (four bytes of text each).
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from typing import Any, cast

import anyio
import httpx2 as httpx
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from bench.assistants.world import build

HERE = Path(__file__).parent
START_S = 60
BYTES_A_TOKEN = 4


def tasks() -> dict[str, dict[str, str]]:
    """The tasks by name."""
    found = tomllib.loads((HERE / "tasks.toml").read_text(encoding="utf-8"))["task"]
    return {task["name"]: task for task in found}


def begin(name: str, server: str, folder: Path) -> str:
    """Prepares a trial; returns the task for the assistant."""
    task = tasks()[name]
    shutil.rmtree(folder, ignore_errors=True)
    data = folder / "data"
    key = _state(task["begins"], data)
    scale = "1" if task["begins"] == "running" else "inf"
    root, service = _started(
        [sys.executable, "-m", "callwright.server.main", "serve", "--data", str(data), "--port", "0"],
        folder / "service.log",
        {"CALLWRIGHT_SIM_TIME_SCALE": scale},
    )
    processes, address = [service], f"{root}/mcp"
    if server == "openapi":
        program = str(HERE.parent / "tool_calls" / "from_openapi.py")
        address, made = _started([sys.executable, program, root, key], folder / "openapi.log", {})
        processes.append(made)
        address = f"{address}/mcp"
    trial = {"name": name, "server": server, "address": address, "key": key, "processes": processes}
    (folder / "trial.json").write_text(json.dumps(trial), encoding="utf-8")
    return task["ask"].replace("{kunden}", (HERE.parents[1] / "examples" / "kunden.csv").read_text(encoding="cp1252"))


def _state(kind: str, data: Path) -> str:
    """A data folder in the state, copied from one that was made before. Returns the key."""
    made = Path(os.environ.get("TRIAL_STATES", "build/trials")) / kind
    if not (made / "key").exists():
        shutil.rmtree(made, ignore_errors=True)
        made.mkdir(parents=True)
        world = anyio.run(build, kind, made)
        (made / "key").write_text(world.key, encoding="utf-8")
    shutil.copytree(made, data)
    return (data / "key").read_text(encoding="utf-8")


def _started(command: list[str], log: Path, settings: dict[str, str]) -> tuple[str, int]:
    """Starts a server; returns the address that it prints, and its process."""
    with log.open("w", encoding="utf-8") as said:
        environment = {**os.environ, **settings}
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=said, stderr=said, env=environment, start_new_session=True
        )
    deadline = time.monotonic() + START_S
    while (found := re.search(r"http://[0-9.]+:[0-9]+", log.read_text(encoding="utf-8"))) is None:
        if process.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(log.read_text(encoding="utf-8"))
        time.sleep(0.05)
    return found[0], process.pid


async def _asked(trial: dict[str, Any], name: str | None, arguments: dict[str, Any]) -> Any:
    """The definitions of the tools, or what a tool answers."""
    headers = {"Authorization": f"Bearer {trial['key']}"}
    async with (
        httpx.AsyncClient(headers=headers, timeout=120) as http,
        Client(streamable_http_client(trial["address"], http_client=http)) as client,
    ):
        if name is None:
            return client.instructions, (await client.list_tools()).tools
        return await client.call_tool(name, arguments)


def tools(folder: Path, name: str | None) -> str:
    """The server's instructions and each tool with the first line of its description; or the definition of one."""
    nothing: dict[str, Any] = {}
    instructions, found = anyio.run(_asked, _trial(folder), None, nothing)
    if name is not None:
        chosen = [tool for tool in found if tool.name == name]
        return "\n".join(tool.model_dump_json(by_alias=True, exclude_none=True) for tool in chosen) or "no such tool"
    said = [instructions] if instructions else []
    return "\n".join(
        said + [f"{tool.name}: {(tool.description or '').strip().splitlines()[0][:400]}" for tool in found]
    )


def definitions(folder: Path) -> str:
    """How many tools there are, and the tokens of their definitions."""
    nothing: dict[str, Any] = {}
    _, found = anyio.run(_asked, _trial(folder), None, nothing)
    size = sum(len(tool.model_dump_json(by_alias=True, exclude_none=True).encode()) for tool in found)
    return f"{len(found)} tools, {size // BYTES_A_TOKEN:,} tokens"


def call(folder: Path, name: str, arguments: str) -> str:
    """The text of a tool's answer, as a host hands it to a model. It is counted."""
    answer = anyio.run(_asked, _trial(folder), name, json.loads(arguments))
    text = "\n".join(part.text for part in answer.content if part.type == "text")
    entry = {"tool": name, "arguments": arguments[:500], "result": len(text.encode()), "error": answer.is_error}
    with (folder / "calls.jsonl").open("a", encoding="utf-8") as log:
        log.write(json.dumps(entry) + "\n")
    return text


def end(folder: Path) -> str:
    """Stops the servers; returns what the trial cost as JSON."""
    trial = _trial(folder)
    for process in trial["processes"]:
        try:
            os.kill(process, signal.SIGTERM)
        except ProcessLookupError:
            continue
    return json.dumps(cost_of(folder))


def cost_of(folder: Path) -> dict[str, Any]:
    """What a trial cost: its calls, those that were refused, and the tokens of the results."""
    trial, log = _trial(folder), folder / "calls.jsonl"
    entries = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()] if log.exists() else []
    return {
        "task": trial["name"],
        "server": trial["server"],
        "calls": len(entries),
        "errors": sum(bool(entry["error"]) for entry in entries),
        "result_tokens": sum(entry["result"] for entry in entries) // BYTES_A_TOKEN,
    }


def _trial(folder: Path) -> dict[str, Any]:
    return cast("dict[str, Any]", json.loads((folder / "trial.json").read_text(encoding="utf-8")))


def main(asked: list[str]) -> str:
    """Runs one command; returns what it prints."""
    if asked[0] == "begin":
        return begin(asked[1], asked[2], Path(asked[3]))
    folder = Path(asked[1])
    if asked[0] == "tools":
        return tools(folder, asked[2] if len(asked) > 2 else None)
    if asked[0] == "definitions":
        return definitions(folder)
    if asked[0] == "call":
        return call(folder, asked[2], asked[3] if len(asked) > 3 else "{}")
    return end(folder)


if __name__ == "__main__":
    print(main(sys.argv[1:]))
