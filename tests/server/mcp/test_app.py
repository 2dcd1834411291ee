"""The protocol server as a whole: what it says of itself, prompts, logging, and what it imports at the start."""

import gc
import json
import logging
import subprocess
import sys
from importlib.metadata import version
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError
from mcp.types import INVALID_PARAMS, TextContent

from callwright.contract.checks.json_containers import MOST_CONTAINERS
from callwright.prompts.registry import PROMPTS
from callwright.server.mcp.app import NEW_OBJECTS, tune_garbage_collector
from callwright.server.mcp.instructions import instructions
from tests.support.tools.fakes import FakeCaller, assistant, server


async def test_it_introduces_itself(era: str) -> None:
    async with assistant(server(FakeCaller()), era) as client:
        assert client.protocol_version == {"legacy": "2025-11-25", "auto": "2026-07-28"}[era]
        assert client.server_info is not None
        assert (client.server_info.name, client.server_info.title) == ("callwright", "Callwright")
        assert client.server_info.version == version("callwright")
        assert client.instructions == instructions()
        assert client.server_capabilities.completions is not None


async def test_prompts_are_listed_with_their_arguments(era: str) -> None:
    async with assistant(server(FakeCaller()), era) as client:
        listed = await client.list_prompts()
    found = {prompt.name: [(arg.name, arg.required) for arg in prompt.arguments or []] for prompt in listed.prompts}
    assert found == {prompt.name: [(arg.name, arg.required) for arg in prompt.arguments] for prompt in PROMPTS}


async def test_a_prompt_is_one_message_of_the_user(era: str) -> None:
    async with assistant(server(FakeCaller()), era) as client:
        found = await client.get_prompt("review_call", {"call_id": "cal_9"})
    assert [message.role for message in found.messages] == ["user"]
    content = found.messages[0].content
    assert isinstance(content, TextContent)
    assert content.text.startswith("Review the call cal_9.")


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("review_call", {}, "call_id is required"),
        ("review_call", {"call_id": "c", "mood": "good"}, "no argument mood"),
        ("launch_rocket", {}, "Unknown prompt: launch_rocket. There are plan_campaign, "),
    ],
)
async def test_wrong_prompts_and_arguments_are_invalid_parameters(
    era: str, name: str, arguments: dict[str, str], words: str
) -> None:
    async with assistant(server(FakeCaller()), era) as client:
        with pytest.raises(MCPError) as caught:
            await client.get_prompt(name, arguments)
    assert caught.value.error.code == INVALID_PARAMS
    assert words in caught.value.error.message


async def test_handshake_and_lists_do_not_touch_the_service(era: str) -> None:
    caller = FakeCaller()
    async with assistant(server(caller), era) as client:
        await client.list_tools()
        await client.list_prompts()
        await client.list_resource_templates()
    assert caller.asked == []


async def test_a_profile_may_offer_fewer_tools() -> None:
    from callwright.server.mcp.app import build
    from callwright.tools.serving.served import served_tools
    from tests.support.tools.fakes import session

    reads = [tool for tool in served_tools() if tool.annotations and tool.annotations.read_only_hint]
    async with assistant(build(session(FakeCaller()).opened, tools=reads), "2026-07-28") as client:
        listed = await client.list_tools()
    assert "start_deployment" not in {tool.name for tool in listed.tools}
    assert len(listed.tools) == len(reads)


PROBE = """
import json, logging, sys
from callwright.server.mcp.app import build
from callwright.server.mcp.session import ServerSession, SystemClock
build(ServerSession(lambda: None, ids=lambda: "", clock=SystemClock(), base_url=None).opened)
import rich.console
root = logging.getLogger()
print(json.dumps({
    "modules": sorted(sys.modules),
    "level": root.level,
    "streams": [getattr(handler, "stream", None) is sys.stderr for handler in root.handlers],
}))
"""


def _probed() -> dict[str, Any]:
    done = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, text=True, check=True, timeout=60)
    return json.loads(done.stdout)


def test_building_imports_nothing_heavy_and_logs_warnings_to_stderr() -> None:
    found = _probed()
    heavy = (
        "sqlalchemy",
        "phonenumbers",
        "rich.logging",
        "orjson",
        "psycopg",
        "callwright.contract.declaration.operation",
    )
    assert [name for name in heavy if name in found["modules"]] == []
    assert not [name for name in found["modules"] if name.startswith(("callwright.client", "callwright.service"))]
    assert found["level"] == logging.WARNING
    assert found["streams"] == [True]


@pytest.fixture
def unfreeze() -> Any:
    thresholds = gc.get_threshold()
    yield
    gc.unfreeze()
    gc.set_threshold(*thresholds)


@pytest.mark.usefixtures("unfreeze")
def test_settling_freezes_what_was_built_and_turns_the_collector_on(monkeypatch: pytest.MonkeyPatch) -> None:
    before = gc.get_freeze_count()
    gc.disable()
    tune_garbage_collector()
    assert gc.isenabled()
    assert gc.get_freeze_count() > before
    assert gc.get_threshold()[0] == NEW_OBJECTS > 2 * MOST_CONTAINERS
