"""The MCP Inspector, a client of another language, in its strict mode: it lists everything and calls everything."""

import json
import subprocess
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio import to_thread

from callwright.prompts.registry import PROMPTS
from callwright.server.mcp.resources.resources import TEMPLATES
from callwright.tools.catalogue.registry import TOOLS
from tests.inspector.cli import environment, inspector
from tests.journeys.receiver import SETTINGS, receiving
from tests.journeys.scenario import build_and_run, steer
from tests.journeys.scenario_of_events import tell
from tests.support.processes.forked_commands import launcher_script
from tests.support.processes.programs import environment as without_settings
from tests.support.processes.programs import serving

both_eras = pytest.mark.parametrize("era", ["legacy", "modern"])
ONE_RUN_S = 60.0
"""Limit of one run: it starts Node, the server and the service, and takes a second and a half on an idle machine."""
NETWORKS = SETTINGS["CALLWRIGHT_WEBHOOK_NETWORKS"]
TOOL_REFUSED = 5
"""Exit status of the Inspector when a tool answers with an error."""


@dataclass
class Inspector:
    """Runs the Inspector, each time with a new server process on the same data folder."""

    home: Path
    era: str
    used: set[str] = field(default_factory=set[str])

    @cached_property
    def program(self) -> Path:
        """What the Inspector starts. That it starts the program from nothing is tested with the other clients."""
        return launcher_script(self.home)

    @property
    def data(self) -> Path:
        """The data folder."""
        return self.home / "data"

    def run(self, method: str, *options: str) -> subprocess.CompletedProcess[str]:
        """One run."""
        server = [str(self.program), "mcp", f"--data={self.data}", "--profile=all", f"--webhook-networks={NETWORKS}"]
        asked = ["--protocol-era", self.era, "--format", "json", "--method", method, *options]
        return subprocess.run(
            [*inspector(), "--cli", *server, *asked],
            env={
                **environment(self.home),
                **without_settings(self.home),
                "NODE_COMPILE_CACHE": str(self.home / "node"),
            },
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=ONE_RUN_S,
        )

    def listed(self, method: str, *options: str) -> list[dict[str, Any]]:
        """What a list method gives. It says nothing on stderr, neither the Inspector nor the server."""
        done = self.run(method, *options)
        assert (done.returncode, done.stderr.strip()) == (0, ""), done.stderr
        result: dict[str, Any] = json.loads(done.stdout)["result"]
        return result[method.rsplit("/", 1)[0].replace("resources/templates", "resourceTemplates")]

    async def _call(self, tool: str, arguments: dict[str, Any]) -> tuple[int, dict[str, Any], str]:
        options = ["--tool-name", tool, "--tool-args-json", json.dumps(arguments)]
        with anyio.fail_after(ONE_RUN_S * 1.5):
            done = await to_thread.run_sync(self.run, "tools/call", *options)
        assert done.stdout, done.stderr
        return done.returncode, json.loads(done.stdout)["result"], done.stderr

    async def use(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """Calls a tool that succeeds; gives its data."""
        status, result, said = await self._call(tool, arguments)
        assert status == 0, (result, said)
        self.used.add(tool)
        return result["structuredContent"]

    async def refused(self, tool: str, /, **arguments: Any) -> str:
        """Calls a tool that refuses; gives its words."""
        status, result, _ = await self._call(tool, arguments)
        assert (status, result["isError"]) == (TOOL_REFUSED, True)
        return result["content"][0]["text"]


@both_eras
def test_the_strict_list_of_tools_has_no_finding(era: str, tmp_path: Path) -> None:
    found = Inspector(tmp_path, era).listed("tools/list", "--strict")
    assert [tool["name"] for tool in found] == [tool.name for tool in TOOLS]


@both_eras
def test_resources_and_prompts_are_listed(era: str, tmp_path: Path) -> None:
    one = Inspector(tmp_path, era)
    assert [found["name"] for found in one.listed("resources/templates/list")] == [
        found.name for found in TEMPLATES if not found.is_fixed
    ]
    assert [found["name"] for found in one.listed("prompts/list")] == [prompt.name for prompt in PROMPTS]


@pytest.mark.long
async def test_every_tool_works_in_the_older_era_beside_a_service_that_runs_already(tmp_path: Path) -> None:
    one = Inspector(tmp_path, "legacy")
    with serving(tmp_path, one.data, **SETTINGS):
        built = await build_and_run(one)
        async with receiving() as receiver:
            await tell(one, built, receiver)
    with serving(tmp_path, one.data, CALLWRIGHT_SIM_TIME_SCALE="1"):
        await steer(one, built)
    assert {tool.name for tool in TOOLS} - one.used == set()


@pytest.mark.parametrize("era", [pytest.param("legacy", marks=pytest.mark.long), "modern"])
async def test_five_tools_work(era: str, tmp_path: Path) -> None:
    one = Inspector(tmp_path, era)
    assert (await one.use("get_overview"))["wallet"]["play_money"] is True
    voice = (await one.use("list_voices", language="en-US", per_page=1))["data"][0]
    made = await one.use("create_agent", name="Ada", voice_id=voice["id"], language="en-US", system_prompt="Say hello.")
    assert (await one.use("get_agent", agent_id=made["id"]))["name"] == "Ada"
    assert (await one.use("delete_agent", agent_id=made["id"]))["deleted"] is True
    assert "list_agents" in await one.refused("get_agent", agent_id=made["id"])
