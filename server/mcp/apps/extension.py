"""Pages that a host shows beside the answer of a tool: the MCP Apps extension (`io.modelcontextprotocol/ui`, SEP-1865).

A tool names its page in `_meta.ui.resourceUri`; the host reads the page as a resource and shows it in a sandbox. Hosts
without the extension ignore it: every tool also answers in text. A page is assembled when it is read.
"""

import re
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path

from mcp.server.extension import Extension, ResourceBinding
from mcp.server.mcpserver.resources import FunctionResource
from mcp.server.mcpserver.tools import Tool

from callwright.appearance.sheet import style_sheet
from callwright.appearance.tones import tones_script

EXTENSION = "io.modelcontextprotocol/ui"
MIME_TYPE = "text/html;profile=mcp-app"
FOLDER = Path(__file__).with_name("views")
NOTHING_ELSE: dict[str, list[str]] = {
    "connectDomains": [],
    "resourceDomains": [],
    "frameDomains": [],
    "baseUriDomains": [],
}
"""The domains that a page may use besides its host: none."""

_STYLE = re.compile(r'<link rel="stylesheet" href="(\w+\.css)">')
_SCRIPT = re.compile(r'<script src="(\w+\.js)"></script>')
_POLICY = "default-src 'none'"
"""The policy in the files. When a page is read, the hashes of its styles and scripts are added."""


@dataclass(frozen=True)
class View:
    """A page. `file` is its name in `views/`; `tools` are those whose answers it shows."""

    uri: str
    file: str
    title: str
    description: str
    tools: tuple[str, ...]


VIEWS: tuple[View, ...] = (
    View(
        uri="ui://callwright/campaign-board.html",
        file="campaign_board.html",
        title="Campaign board",
        description="A campaign as it runs: progress, outcomes, spend against the budget cap, and a button to pause.",
        tools=("get_deployment", "start_deployment", "resume_deployment", "pause_deployment"),
    ),
    View(
        uri="ui://callwright/call-player.html",
        file="call_player.html",
        title="Call player",
        description="The sound of a call, with its transcript following.",
        tools=("get_transcript", "get_recording"),
    ),
)

PAGES_MAY_CALL = ("pause_deployment",)
"""The writing tools that a page may call. Hosts refuse it all others."""


class Views(Extension):
    """The extension for the MCP server. It adds the pages as resources."""

    identifier = EXTENSION

    def resources(self) -> Sequence[ResourceBinding]:
        """The pages. They are read on request."""
        return [ResourceBinding(_resource(view)) for view in VIEWS]


def with_views(tools: Sequence[Tool]) -> list[Tool]:
    """The tools, each with its page in `_meta`. Pages may call no writing tools but `PAGES_MAY_CALL`."""
    return [_shown(tool) for tool in tools]


def page(file: str) -> str:
    """A page in one piece: styles and scripts inlined, and a policy that forbids to run or fetch anything else."""
    html = _text(file)
    html = _STYLE.sub(lambda found: f"<style>\n{_text(found[1])}</style>", html)
    html = _SCRIPT.sub(lambda found: f"<script>\n{_text(found[1])}</script>", html)
    styles = " ".join(_hash(text) for text in re.findall(r"<style>(.*?)</style>", html, re.S))
    scripts = " ".join(_hash(text) for text in re.findall(r"<script>(.*?)</script>", html, re.S))
    # Sound comes as a data: address: the specification's default policy allows no blob: there.
    return html.replace(_POLICY, f"{_POLICY}; style-src {styles}; script-src {scripts}; media-src data:", 1)


def _resource(view: View) -> FunctionResource:
    return FunctionResource(
        uri=view.uri,
        name=view.file.removesuffix(".html"),
        title=view.title,
        description=view.description,
        mime_type=MIME_TYPE,
        meta={"ui": {"csp": NOTHING_ELSE, "prefersBorder": True}},
        fn=partial(page, view.file),
    )


def _shown(tool: Tool) -> Tool:
    ui: dict[str, object] = {}
    if view := next((view for view in VIEWS if tool.name in view.tools), None):
        ui["resourceUri"] = view.uri
    reads = tool.annotations is not None and tool.annotations.read_only_hint
    if not reads and tool.name not in PAGES_MAY_CALL:
        ui["visibility"] = ["model"]
    return tool.model_copy(update={"meta": {**(tool.meta or {}), "ui": ui}}) if ui else tool


_SHARED = {"parts.css": style_sheet, "tones.js": tones_script}
"""What pages have in common with those of the service."""


def _text(file: str) -> str:
    shared = _SHARED.get(file)
    return (FOLDER / file).read_text(encoding="utf-8") if shared is None else shared()


def _hash(text: str) -> str:
    """A source of a content security policy that allows exactly this text."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
