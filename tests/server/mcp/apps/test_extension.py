"""Pages beside the answers of tools: what the protocol server says of them, and what they are made of."""

import json
import re
import subprocess
import sys
from base64 import b64encode
from hashlib import sha256
from typing import Any

import pytest
from hatchling.builders.wheel import WheelBuilder
from mcp import Client
from mcp.client.extension import ClientExtension
from mcp.server import apps as sdk
from mcp.types import TextResourceContents
from mcp.types import Tool as ProtocolTool

from callwright.server.mcp.apps.extension import EXTENSION, FOLDER, MIME_TYPE, NOTHING_ELSE, PAGES_MAY_CALL, VIEWS, page
from callwright.tools.serving.served import served_tools
from tests.house.tree import ROOT
from tests.support.tools.fakes import FakeCaller, assistant, server

every_page = pytest.mark.parametrize("file", [view.file for view in VIEWS])


class Renders(ClientExtension):
    """What a host says that shows pages."""

    identifier = EXTENSION

    def settings(self) -> dict[str, Any]:
        return {"mimeTypes": [MIME_TYPE]}


async def listed(era: str) -> dict[str, ProtocolTool]:
    async with assistant(server(FakeCaller()), era) as client:
        return {tool.name: tool for tool in (await client.list_tools()).tools}


def ui_of(tool: ProtocolTool) -> dict[str, Any]:
    return (tool.meta or {}).get("ui", {})


def test_names_are_those_of_the_sdk() -> None:
    assert (EXTENSION, MIME_TYPE) == (sdk.EXTENSION_ID, sdk.APP_MIME_TYPE)


async def test_tools_name_their_page(era: str) -> None:
    tools = await listed(era)
    named = {name: ui_of(tool)["resourceUri"] for name, tool in tools.items() if "resourceUri" in ui_of(tool)}
    assert named == {tool: view.uri for view in VIEWS for tool in view.tools}


async def test_a_page_may_call_reading_tools_and_pause_and_nothing_else(era: str) -> None:
    tools = await listed(era)
    open_to_pages = {name for name, tool in tools.items() if "app" in ui_of(tool).get("visibility", ["model", "app"])}
    reading = {name for name, tool in tools.items() if tool.annotations and tool.annotations.read_only_hint}
    assert open_to_pages == reading | set(PAGES_MAY_CALL)
    assert {"start_deployment", "resume_deployment", "create_deployment"} <= set(tools) - open_to_pages
    assert all("model" in ui_of(tool).get("visibility", ["model"]) for tool in tools.values())


async def test_pages_are_resources_that_may_reach_nothing(era: str) -> None:
    async with assistant(server(FakeCaller()), era) as client:
        listed = (await client.list_resources()).resources
        found = {str(entry.uri): entry for entry in listed if str(entry.uri).startswith("ui://")}
        assert set(found) == {view.uri for view in VIEWS}
        for uri, entry in found.items():
            (content,) = (await client.read_resource(uri)).contents
            assert isinstance(content, TextResourceContents)
            assert (entry.mime_type, content.mime_type) == (MIME_TYPE, MIME_TYPE)
            assert entry.meta == content.meta == {"ui": {"csp": NOTHING_ELSE, "prefersBorder": True}}
            assert content.text.startswith("<!doctype html>")


async def test_the_extension_is_announced() -> None:
    async with assistant(server(FakeCaller()), "auto") as client:
        assert EXTENSION in (client.server_capabilities.extensions or {})


@pytest.mark.parametrize(
    ("tool", "arguments"), [("get_deployment", {"deployment_id": "d"}), ("get_transcript", {"call_id": "c"})]
)
async def test_a_host_without_pages_gets_the_same_words_as_one_with_them(
    era: str, tool: str, arguments: dict[str, Any]
) -> None:
    async with assistant(server(FakeCaller()), era) as plain:
        without = await plain.call_tool(tool, arguments)
    async with Client(server(FakeCaller()), mode=era, extensions=[Renders()]) as host:
        shown = await host.call_tool(tool, arguments)
    assert shown.content == without.content
    assert shown.structured_content == without.structured_content


@every_page
def test_a_page_is_one_piece_and_names_no_address(file: str) -> None:
    html = page(file)
    assert not re.search(r"\b(?:src|href)=|https?:|@import|url\(", html.replace("audio.src = `data:", ""))
    assert html.count("<script>") == html.count("</script>") == 3
    assert html.count("<style>") == html.count("</style>") == 3
    assert "<!--" not in html


@every_page
def test_nothing_runs_in_a_page_but_its_own_scripts(file: str) -> None:
    html = page(file)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html)
    assert policy is not None
    directives = {name: values for name, *values in (part.split() for part in policy[1].split(";"))}
    own = {
        f"{kind}-src": [_source(text) for text in re.findall(f"<{tag}>(.*?)</{tag}>", html, re.DOTALL)]
        for kind, tag in (("script", "script"), ("style", "style"))
    }
    assert directives == {"default-src": ["'none'"], "media-src": ["data:"], **own}
    assert not re.search(r'\son\w+="|\sstyle="', html)


def test_words_from_outside_never_become_markup() -> None:
    ways_in = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|DOMParser|setHTML|srcdoc"
    scripts = sorted(FOLDER.glob("*.js"))
    assert len(scripts) == 3
    assert [script.name for script in scripts if re.search(ways_in, script.read_text(encoding="utf-8"))] == []


def test_the_wheel_holds_every_page() -> None:
    shipped = {entry.distribution_path for entry in WheelBuilder(str(ROOT)).recurse_included_files()}
    assert {f"callwright/server/mcp/apps/views/{path.name}" for path in FOLDER.iterdir()} <= shipped


PROBE = """
import json, sys
from callwright.server.mcp.session import ServerSession, SystemClock
opened = []
sys.addaudithook(lambda event, given: event == "open" and opened.append(str(given[0])))
from callwright.server.mcp.app import build
build(ServerSession(lambda: None, ids=lambda: "", clock=SystemClock(), base_url=None).opened)
print(json.dumps({"pages": [path for path in opened if "views" in path], "sdk": "mcp.server.apps" in sys.modules}))
"""


def test_building_the_server_reads_no_page() -> None:
    done = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, text=True, check=True, timeout=60)
    assert json.loads(done.stdout) == {"pages": [], "sdk": False}


def test_every_tool_with_a_page_exists() -> None:
    assert {tool for view in VIEWS for tool in view.tools} <= {tool.name for tool in served_tools()}


def _source(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
