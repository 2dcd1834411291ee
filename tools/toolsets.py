"""Which tools are switched on: toolsets, profiles, and the filters above them.

Everything is read from the stored definitions. Neither the contract nor the catalogue is imported, because a host that
spawns the server waits for this.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args

Toolset = Literal[
    "context",
    "agents",
    "audiences",
    "numbers",
    "campaigns",
    "calls",
    "recordings",
    "live",
    "people",
    "events",
    "upkeep",
    "removal",
    "audit",
    "inbound",
    "compliance",
    "call_tools",
]
Profile = Literal["analyst", "operator", "builder", "all"]

TOOLSETS: tuple[Toolset, ...] = get_args(Toolset)
PROFILES: tuple[Profile, ...] = get_args(Profile)
DEFAULT_PROFILE: Profile = "builder"

ABOUT: dict[Toolset, str] = {
    "context": "What there is, and what moved the wallet.",
    "agents": "Who speaks on calls, and the voices.",
    "audiences": "Lists of people to call, filled with rows or files.",
    "numbers": "Phone numbers to call from and to be called on.",
    "campaigns": "Deployments: drafting, previewing, starting, following and stopping them; one call.",
    "calls": "Calls: their outcomes and what was said.",
    "recordings": "The sound of calls.",
    "live": "Ending single calls that are under way.",
    "people": "Single people of an audience, rows that an import refused, and exports.",
    "events": "Telling other programs of events: webhook subscriptions, what was sent, why something did not arrive.",
    "upkeep": "Looking after what exists: labels, descriptions, renewal, voices, numbers, calls that may have rung.",
    "removal": "Deleting, and giving numbers back. Not to be undone.",
    "inbound": "Answering callers: who answers a number, its routing webhook, callers of the simulated network.",
    "audit": "Who changed what, when, and through which tool.",
    "call_tools": "What agents can do on a call beside talking.",
    "compliance": "The do-not-call list, reviews, why a call was allowed, one person's data.",
}
"""What each toolset is for."""

ABOUT_PROFILES: dict[Profile, str] = {
    "analyst": "Reads: campaigns, calls, transcripts, figures. It cannot dial, spend or change anything.",
    "operator": "What an analyst has, and runs campaigns: draft, start, pause, resume, cancel, hang up.",
    "builder": "What an operator has, and makes agents, audiences and rents numbers. The default.",
    "all": "Every tool, deleting included.",
}
"""What each profile is for."""

_FOR_MAKING = frozenset({"list_voices", "search_available_numbers", "get_audience_import"})
"""Reading tools that are useful only to create agents, rent numbers and import people."""

_READ: frozenset[Toolset] = frozenset(TOOLSETS[:7])
"""The toolsets whose reading tools every profile has."""

_WRITTEN: dict[Profile, frozenset[Toolset]] = {
    "analyst": frozenset(),
    "operator": frozenset({"campaigns", "live"}),
    "builder": frozenset({"campaigns", "live", "agents", "audiences", "numbers"}),
    "all": frozenset(TOOLSETS),
}
"""The toolsets whose writing tools a profile has as well."""

_FILE = Path(__file__).with_name("definitions.json")


class UnknownTools(ValueError):
    """A profile, toolset or tool does not exist. The text names it and lists those that exist."""


@dataclass(frozen=True)
class ToolSwitch:
    """The name and toolset of a tool, and whether it only reads, by which it is switched on or off."""

    name: str
    toolset: Toolset
    read_only: bool


@cache
def stored_definitions() -> tuple[dict[str, Any], ...]:
    """The definition of every tool, in the order of the catalogue. It must not be changed."""
    return tuple(json.loads(_FILE.read_text(encoding="utf-8")))


@cache
def known_tools() -> tuple[ToolSwitch, ...]:
    """Every tool there is."""
    return tuple(
        ToolSwitch(found["name"], found["toolset"], found["annotations"]["readOnlyHint"])
        for found in stored_definitions()
    )


def enabled_tools(
    *,
    profile: str = DEFAULT_PROFILE,
    toolsets: Iterable[str] | None = None,
    exclude: Iterable[str] = (),
    read_only: bool = False,
    tools: Iterable[ToolSwitch] | None = None,
) -> frozenset[str]:
    """The names of the enabled tools, out of `tools` or of all.

    `toolsets` names toolsets or single tools and replaces the profile. `exclude` takes the same names, and overrides
    it. `read_only` keeps only tools that read, and overrides both.

    Raises:
        UnknownTools: a name is unknown; the text lists the known ones.
    """
    every = known_tools() if tools is None else tuple(tools)
    found = _of_profile(every, profile) if toolsets is None else _named(every, toolsets)
    found -= _named(every, exclude)
    return found & {tool.name for tool in every if tool.read_only} if read_only else found


def names_of(text: str) -> tuple[str, ...]:
    """The names in a comma-separated list."""
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _of_profile(tools: Iterable[ToolSwitch], profile: str) -> frozenset[str]:
    written = next((found for name, found in _WRITTEN.items() if name == profile), None)
    if written is None:
        raise UnknownTools(f"there is no profile {profile[:40]!r}; there are {', '.join(PROFILES)}")
    return frozenset(
        tool.name
        for tool in tools
        if tool.toolset in written or (tool.read_only and tool.toolset in _READ and tool.name not in _FOR_MAKING)
    )


def _named(tools: tuple[ToolSwitch, ...], names: Iterable[str]) -> frozenset[str]:
    found: set[str] = set()
    for name in names:
        meant = {tool.name for tool in tools if name in (tool.name, tool.toolset)}
        if not meant:
            singles = ", ".join(tool.name for tool in tools)
            raise UnknownTools(
                f"there is no toolset or tool {name[:40]!r}; toolsets are {', '.join(TOOLSETS)}; tools are {singles}"
            )
        found |= meant
    return frozenset(found)
