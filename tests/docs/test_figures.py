"""The figures about tools in the README and on the page about hosts are those of the generated pages."""

import re
from statistics import median

import pytest

from callwright.tools.toolsets import PROFILES
from tests.house.tree import ROOT

ROUNDED = 0.02
"""How far a rounded figure may be from the exact one, as a share of it."""

OF_OTHER_FIELDS = ("Sentry", "FastMCP")
"""Servers of the page that have nothing to do with voice."""


def rows(page: str) -> dict[str, list[str]]:
    """The rows of a page's tables that begin with the name of a profile: their other cells."""
    text = (ROOT / page).read_text(encoding="utf-8")
    found = re.findall(rf"^\| `?({'|'.join(PROFILES)})`?(?: \(default\))? \|(.*)\|$", text, re.MULTILINE)
    return {name: [cell.strip() for cell in rest.split("|")] for name, rest in found}


def number(cell: str) -> int:
    return int(cell.replace(",", ""))


EXACT = {name: (number(cells[0]), number(cells[2])) for name, cells in rows("docs/reference/tool-tokens.md").items()}


@pytest.mark.parametrize("profile", PROFILES)
def test_the_readme_says_what_the_definitions_of_each_profile_cost(profile: str) -> None:
    tokens = EXACT[profile][1]
    assert number(rows("README.md")[profile][-1]) == pytest.approx(tokens, rel=ROUNDED)


@pytest.mark.parametrize("profile", PROFILES)
def test_the_page_about_hosts_says_how_many_tools_each_profile_has(profile: str) -> None:
    assert number(rows("docs/hosts/README.md")[profile][0]) == EXACT[profile][0]


def test_the_readme_compares_with_the_median_of_the_voice_servers_that_the_page_lists() -> None:
    listed = re.findall(
        r"^\| ([^|]+) \| (\d+) \| [\d,]+ \| ([\d,]+) \| [\d,]+ \|$",
        (ROOT / "docs/reference/tool-tokens.md").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    others = [(int(tools), number(tokens)) for name, tools, tokens in listed if not name.startswith(OF_OTHER_FIELDS)]
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (ours, own_tools, theirs, tools) = re.findall(
        r"\| ([\d,]+) tokens, (\d+) tools; .* \| ([\d,]+) tokens, (\d+) tools \(median\) \|", text
    )[0]
    assert len(others) == 9
    assert int(tools) == median(tools for tools, _ in others)
    assert number(theirs) == pytest.approx(median(tokens for _, tokens in others), rel=ROUNDED)
    assert number(ours) == pytest.approx(EXACT["builder"][1], rel=ROUNDED)
    assert int(own_tools) == EXACT["builder"][0]
