"""Toolsets, profiles and the filters above them."""

import subprocess
import sys
from itertools import pairwise

import pytest

from callwright.tools.toolsets import (
    ABOUT,
    ABOUT_PROFILES,
    PROFILES,
    TOOLSETS,
    UnknownTools,
    enabled_tools,
    known_tools,
    names_of,
)

TOOLS = known_tools()
EVERY = frozenset(tool.name for tool in TOOLS)
READING = frozenset(tool.name for tool in TOOLS if tool.read_only)
SPENDS_OR_DIALS = {
    *("start_deployment", "resume_deployment", "create_deployment", "place_call", "rent_phone_number"),
    "import_audience",
}


def of(toolset: str) -> frozenset[str]:
    return frozenset(tool.name for tool in TOOLS if tool.toolset == toolset)


def test_each_toolset_has_tools_and_words() -> None:
    assert {tool.toolset for tool in TOOLS} == set(TOOLSETS) == set(ABOUT)
    assert set(ABOUT_PROFILES) == set(PROFILES)


def test_profiles_grow_from_the_analyst_to_everything() -> None:
    sizes = [enabled_tools(profile=profile) for profile in PROFILES]
    assert all(smaller < larger for smaller, larger in pairwise(sizes))
    assert sizes[-1] == EVERY


@pytest.mark.parametrize(("profile", "tools"), [("analyst", 18), ("operator", 27), ("builder", 39), ("all", 94)])
def test_a_profile_has_so_many_tools(profile: str, tools: int) -> None:
    assert len(enabled_tools(profile=profile)) == tools


def test_an_analyst_can_neither_write_nor_dial_nor_spend() -> None:
    found = enabled_tools(profile="analyst")
    assert found <= READING
    assert not found & SPENDS_OR_DIALS
    assert {"preview_deployment", "search_transcripts", "get_transcript", "get_recording", "get_overview"} <= found


def test_an_operator_runs_campaigns_and_makes_nothing_else() -> None:
    found = enabled_tools(profile="operator")
    assert of("campaigns") | of("live") <= found
    assert found - READING == (of("campaigns") | of("live")) - READING


def test_a_builder_is_the_default_and_goes_the_whole_road() -> None:
    found = enabled_tools()
    assert found == enabled_tools(profile="builder")
    assert {"list_voices", "search_available_numbers", "get_audience_import", "list_contacts"} <= found
    assert {"get_overview", "place_call", "update_audience", "delete_audience"} <= found
    assert not found & (of("removal") | of("people") | of("upkeep") | of("audit") | of("inbound"))


def test_the_audit_log_and_inbound_deployments_are_off_unless_chosen() -> None:
    assert of("audit") == {"list_audit_log"}
    assert of("inbound") == {
        *("create_inbound_deployment", "set_inbound_routing", "remove_inbound_routing"),
        *("test_inbound_routing", "list_routing_requests", "simulate_inbound_call", "talk_to_number"),
    }
    assert "get_wallet" in of("upkeep")
    for profile in ("analyst", "operator", "builder"):
        assert not enabled_tools(profile=profile) & {"list_audit_log", "create_inbound_deployment", "get_wallet"}
    assert enabled_tools(toolsets=("audit",)) == {"list_audit_log"}


def test_toolsets_and_single_tools_stand_in_place_of_the_profile() -> None:
    assert enabled_tools(profile="analyst", toolsets=("numbers", "get_call")) == of("numbers") | {"get_call"}
    assert enabled_tools(toolsets=()) == frozenset()


def test_exclusion_beats_inclusion() -> None:
    found = enabled_tools(toolsets=("campaigns", "start_deployment"), exclude=("start_deployment",))
    assert found == of("campaigns") - {"start_deployment"}
    assert enabled_tools(profile="all", exclude=TOOLSETS) == frozenset()


def test_read_only_is_above_everything() -> None:
    assert enabled_tools(profile="all", read_only=True) == READING
    assert enabled_tools(toolsets=("start_deployment", "get_call"), read_only=True) == {"get_call"}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"profile": "boss"}, "'boss'; there are analyst, operator, builder, all"),
        ({"toolsets": ("campaign",)}, "'campaign'; toolsets are context, agents, "),
        ({"exclude": ("start",)}, "start_deployment"),
    ],
)
def test_an_unknown_name_is_refused_with_the_known_ones(options: dict[str, object], words: str) -> None:
    with pytest.raises(UnknownTools) as caught:
        enabled_tools(**options)  # pyright: ignore[reportArgumentType]  # one option of several types at a time
    assert words in str(caught.value)


def test_names_are_read_from_a_list_with_commas() -> None:
    assert names_of(" calls, get_agent ,,") == ("calls", "get_agent")


def test_choosing_tools_imports_neither_the_catalogue_nor_the_contract() -> None:
    code = (
        "import sys; from callwright.tools.toolsets import enabled_tools; enabled_tools(); "
        "print([name for name in sys.modules if name.startswith(('callwright.', 'pydantic', 'mcp'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "['callwright.tools', 'callwright.tools.toolsets']"
