"""Reference pages of the tools: every tool by toolset with its hints and arguments, and the size of the definitions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from callwright.tools.toolsets import ABOUT, ABOUT_PROFILES, PROFILES, TOOLSETS, ToolSwitch, enabled_tools

Definition = Mapping[str, Any]
BYTES_A_TOKEN = 4


@dataclass(frozen=True)
class DefinitionSize:
    """The bytes of one tool in `tools/list`, and how many of them describe answers."""

    name: str
    toolset: str
    size: int
    about_answers: int


@dataclass(frozen=True)
class OtherServer:
    """A server of another maker: its tools and the bytes of their definitions."""

    name: str
    tools: int
    size: int


OTHER_SERVERS: tuple[OtherServer, ...] = (
    OtherServer("CallMCP 0.1 (dograh driver)", 10, 5_960),
    OtherServer("Bolna 0.1.0", 11, 9_327),
    OtherServer("Vapi 0.0.11", 13, 17_431),
    OtherServer("Retell, community 1.0.2", 24, 19_675),
    OtherServer("Sentry 0.36.0", 22, 61_487),
    OtherServer("VoIPbin 0.3.0", 66, 61_931),
    OtherServer("OmniDimension 0.9.2", 49, 64_047),
    OtherServer("ElevenLabs 0.12.2", 27, 69_546),
    OtherServer("Smallest AI 0.11.2", 83, 98_624),
    OtherServer("FastMCP 4.1.2 from an OpenAPI document of 171 operations", 177, 442_982),
    OtherServer("Twilio 0.7.0, default", 197, 316_610),
)
"""Measured in November 2026 on each server's answer to `tools/list`."""


def tools_page(definitions: Mapping[str, Definition]) -> str:
    """Every tool, by toolset."""
    known = [
        ToolSwitch(name, found["toolset"], found["annotations"]["readOnlyHint"]) for name, found in definitions.items()
    ]
    lines = ["# Tools", "", *_choosing(known)]
    for toolset in TOOLSETS:
        lines += [f"## Toolset {toolset}", "", ABOUT[toolset], ""]
        for tool in known:
            if tool.toolset == toolset:
                lines += _tool(
                    definitions[tool.name], [p for p in PROFILES if tool.name in enabled_tools(profile=p, tools=known)]
                )
    return "\n".join(lines).rstrip() + "\n"


def tokens_page(costs: Mapping[str, Sequence[DefinitionSize]]) -> str:
    """The size of the definitions by profile and by tool, beside those of other servers. `costs` is by profile."""
    lines = [
        "# What the definitions cost",
        "",
        "An assistant reads the definitions of all its tools before it does anything. These are the bytes of the JSON "
        "that `tools/list` sends; a token is taken to be four bytes.",
        "",
        "| profile | tools | bytes | tokens | of it about answers |",
        "|---|---|---|---|---|",
    ]
    for profile, found in costs.items():
        size, about = sum(cost.size for cost in found), sum(cost.about_answers for cost in found)
        lines.append(f"| {profile} | {len(found)} | {size:,} | {_tokens(size)} | {about / size:.0%} |")
    lines += ["", "## Other servers", "", "Measured in November 2026 in the same way.", ""]
    lines += ["| server | tools | bytes | tokens | bytes a tool |", "|---|---|---|---|---|"]
    for peer in sorted(OTHER_SERVERS, key=lambda peer: peer.size):
        each = round(peer.size / peer.tools)
        lines.append(f"| {peer.name} | {peer.tools} | {peer.size:,} | {_tokens(peer.size)} | {each:,} |")
    lines += ["", "## By tool", "", "| tool | toolset | bytes | tokens |", "|---|---|---|---|"]
    for cost in max(costs.values(), key=len):
        lines.append(f"| `{cost.name}` | {cost.toolset} | {cost.size:,} | {_tokens(cost.size)} |")
    return "\n".join(lines) + "\n"


def _tokens(size: int) -> str:
    return f"{round(size / BYTES_A_TOKEN):,}"


def _choosing(known: Sequence[ToolSwitch]) -> list[str]:
    lines = [
        "A profile switches tools on; what is off is not listed, and no text names it. `--profile` chooses one, "
        "`--toolsets` names toolsets or single tools in its place, `--exclude-tools` leaves some out and beats both, "
        "`--read-only` leaves what reads and is above everything. What they cost is in "
        "[tool-tokens.md](tool-tokens.md).",
        "",
        "| profile | tools | what it can do |",
        "|---|---|---|",
    ]
    lines += [
        f"| `{name}` | {len(enabled_tools(profile=name, tools=known))} | {ABOUT_PROFILES[name]} |" for name in PROFILES
    ]
    return [*lines, ""]


def _tool(found: Definition, profiles: Sequence[str]) -> list[str]:
    hints = found["annotations"]
    facts = [
        "reads" if hints["readOnlyHint"] else "writes",
        "destructive" if hints["destructiveHint"] else "",
        "idempotent" if hints["idempotentHint"] else "not idempotent",
        "reaches outside" if hints["openWorldHint"] else "",
        f"profiles {', '.join(profiles)}",
    ]
    lines = [f"### {found['name']}", "", f"*{found['title']}: {'; '.join(fact for fact in facts if fact)}*", ""]
    lines += [found["description"], ""]
    schema = found["inputSchema"]
    if not schema["properties"]:
        return lines
    lines += ["| argument | required | meaning |", "|---|---|---|"]
    for name, sub in schema["properties"].items():
        said = f"{sub.get('description', '')}{_allowed(sub)}".replace("|", "\\|")
        lines.append(f"| `{name}` | {'yes' if name in schema.get('required', []) else ''} | {said} |")
    return [*lines, ""]


def _allowed(schema: Definition) -> str:
    choices = schema.get("enum") or schema.get("items", {}).get("enum")
    said = f" One of {', '.join(choices)}." if choices else ""
    return said + (f" Default {schema['default']}." if "default" in schema else "")
