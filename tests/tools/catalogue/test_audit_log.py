"""list_audit_log: who changed what, in one line each."""

from tests.support.tools import samples
from tests.support.tools.lookups import text_from
from tests.support.tools.overview_samples import audit_entry
from tests.support.tools.tool_calls import taken


async def test_an_entry_names_the_key_the_tool_and_the_plan_of_a_start() -> None:
    text = await text_from("list_audit_log", {}, {"list_audit_log": samples.page([audit_entry()])})
    assert text.splitlines() == [
        "2026-11-21 09:30Z  start_deployment  dep_1  by Front desk (key_1)  through start_deployment  "
        '{"plan_id": {"after": "pln_1"}, "status": {"before": "draft", "after": "active"}}'
    ]


async def test_an_entry_of_the_service_itself_names_it_and_no_tool() -> None:
    entry = audit_entry().model_copy(update={"actor_id": "platform", "actor_label": "", "tool": None, "changes": {}})
    text = await text_from("list_audit_log", {}, {"list_audit_log": samples.page([entry])})
    assert text.splitlines() == ["2026-11-21 09:30Z  start_deployment  dep_1  by platform"]


async def test_long_changes_are_cut_in_words() -> None:
    entry = audit_entry().model_copy(update={"changes": {"system_prompt": {"before": "", "after": "x" * 2_000}}})
    text = await text_from("list_audit_log", {}, {"list_audit_log": samples.page([entry])})
    assert len(text) < 450
    assert text.endswith("…")


async def test_its_filters_reach_the_service() -> None:
    given = {"action": "start_deployment", "subject_id": "dep_1", "actor_id": "key_1", "tool": "start_deployment"}
    asked = await taken("list_audit_log", **given, created_from="2026-11-21T00:00:00Z")
    assert asked == {**given, "created_from": "2026-11-21T00:00:00Z", "per_page": 20, "cursor": None, "page": None}
