"""The reference pages of the tools."""

from callwright.tools.serving.definitions import definitions
from callwright.tools.serving.reference_pages import OTHER_SERVERS, DefinitionSize, tokens_page, tools_page
from callwright.tools.toolsets import PROFILES, TOOLSETS


def test_every_tool_stands_under_its_toolset_with_its_hints_arguments_and_profiles() -> None:
    found = definitions()
    page = tools_page(found)
    sections = {part.splitlines()[0]: part for part in page.split("## Toolset ")[1:]}
    assert tuple(sections) == TOOLSETS
    for name, definition in found.items():
        section = sections[definition["toolset"]]
        assert f"### {name}\n" in section
        assert definition["description"] in section
    assert all(f"| `{profile}` |" in page for profile in PROFILES)
    assert (
        "*Start a deployment: writes; destructive; idempotent; reaches outside; profiles operator, builder, all*"
        in page
    )
    assert "| `csv` | yes |" in page


def test_the_cost_of_each_profile_stands_beside_that_of_other_servers() -> None:
    one = DefinitionSize("get_call", "calls", 1_000, 250)
    two = DefinitionSize("list_calls", "calls", 3_000, 750)
    page = tokens_page({"analyst": [one], "all": [one, two]})
    assert "| analyst | 1 | 1,000 | 250 | 25% |" in page
    assert "| all | 2 | 4,000 | 1,000 | 25% |" in page
    assert "| `list_calls` | calls | 3,000 | 750 |" in page
    assert all(f"| {peer.name} | {peer.tools} | {peer.size:,} |" in page for peer in OTHER_SERVERS)
    assert "Measured in November 2026" in page
