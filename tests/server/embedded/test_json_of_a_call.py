"""How often a tool call inside one process writes and reads JSON, counted from the protocol's client to the tables.

Counted is what the tools, the client and the request pipeline do. What is kept in columns, events and revisions is not.
"""

import json
import sys
import threading
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from mcp import Client as Assistant

from callwright.client import Client
from callwright.server.embedded.embedded import IN_PROCESS
from callwright.server.embedded.in_process import InProcessTransport
from callwright.server.mcp.app import build
from tests.support.service import open_service
from tests.support.tools.fakes import session

AGENT: dict[str, Any] = {"name": "Ada", "voice_id": "en-US-ada", "language": "en-US", "system_prompt": "Be kind."}
_COUNTED = (
    "callwright.tools.",
    "callwright.client.",
    "callwright.server.",
    "callwright.service.rest.",
    "callwright.contract.",
)
_FUNCTIONS = {json.dumps.__code__: "writes", json.loads.__code__: "reads"}
_BUILTINS = {"to_json": "writes", "dumps": "writes", "validate_json": "reads", "from_json": "reads", "loads": "reads"}


def _module(frame: FrameType) -> str:
    return frame.f_globals.get("__name__", "")


@contextmanager
def counted() -> Generator[Counter[str]]:
    """How often each module writes or reads JSON inside the block, in every thread that begins in it, and in this."""
    found: Counter[str] = Counter()

    def note(frame: FrameType, event: str, called: Any) -> None:
        if event == "c_call":
            what, by = _BUILTINS.get(getattr(called, "__name__", "")), frame
        elif event == "call":
            what, by = _FUNCTIONS.get(frame.f_code), frame.f_back
        else:
            return
        while what is not None and by is not None and _module(by).startswith("pydantic"):
            by = by.f_back
        module = "" if by is None else _module(by)
        if what is not None and module.startswith(_COUNTED):
            found[f"{module.removeprefix('callwright.')} {what}"] += 1

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        yield found
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # pyright: ignore[reportArgumentType]  # documented to switch it off


SENT = {"client.request writes": 1, "service.rest.requests reads": 1}
"""The body of the request."""
ANSWER = {"service.rest.answers writes": 1, "client.compat.lenient_response reads": 1, "tools.wording.text writes": 1}
"""Written by the service, read by the client, measured for the bound of the reply."""


@pytest.mark.parametrize(
    ("tool", "arguments", "expected"),
    [
        ("create_agent", AGENT, Counter(SENT) + Counter(ANSWER)),
        ("list_agents", {}, Counter(ANSWER) + Counter({"service.rest.answers writes": 2})),
        ("get_wallet", {}, Counter(ANSWER)),
    ],
)
async def test_a_tool_call_writes_its_arguments_and_reads_its_answer_once(
    tool: str, arguments: dict[str, Any], expected: Counter[str], tmp_path: Path
) -> None:
    with counted() as found:
        async with open_service(f"sqlite:///{tmp_path}/a.sqlite", tmp_path, workers=False) as opened:
            rest = Client(IN_PROCESS, opened.api_key, transport=InProcessTransport(opened.service))
            for name in ("Bea", "Cem"):
                given: dict[str, Any] = {**AGENT, "name": name}
                await rest.agents.create(**given)
            async with Assistant(build(session(rest).opened), mode="2026-07-28") as assistant:
                found.clear()
                result = await assistant.call_tool(tool, arguments)
                during = Counter(found)
    assert not result.is_error
    assert during == expected
