"""The guard that every answer of the service passes on its way to tools and resources."""

from typing import Any

from callwright.contract.audiences import Column, RowError, RowsAdded
from callwright.contract.calls.calls import Call, GetCall, get_call
from callwright.contract.declaration.pagination import Page
from callwright.contract.surface import OPERATIONS
from callwright.tools.runtime.guarded import GuardedCaller
from callwright.tools.untrusted.guarded_answers import guarded, guarded_json
from callwright.tools.untrusted.untrusted_fields import untrusted_fields
from tests.support.tools import finding_samples, samples
from tests.support.tools.fakes import FakeCaller

HIDDEN = "\u202e\u200b\U000e0041"
CELLS = {"na\u200bme": f"A{HIDDEN}da", "mobile": "(202) 555-0100", "note": "ring +44 20 7946 0958"}


def test_a_calls_foreign_words_are_cleaned_and_its_number_masked() -> None:
    call = samples.call(
        unanswered_questions=[f"Is it{HIDDEN}? Ring +12025550177."], variables=CELLS, warnings=["w\u200b"]
    )
    shown = guarded(call, masks=True)
    assert shown.to == "+1202•••0100"
    assert shown.from_number == call.from_number
    assert shown.unanswered_questions == ["Is it? Ring +12025550177."]
    assert shown.variables == {"name": "Ada", "mobile": "202•••0100", "note": "ring +4420•••0958"}
    assert shown.warnings == ["w"]


def test_on_a_call_that_came_in_the_callers_number_is_the_contacts() -> None:
    shown = guarded(samples.call(call_type="inbound", from_number="+12025550177"), masks=True)
    assert (shown.from_number, shown.to) == ("+1202•••0177", samples.CALLEE)


def test_where_nothing_is_masked_words_are_cleaned_all_the_same() -> None:
    shown = guarded(samples.call(variables=CELLS), masks=False)
    assert shown.to == samples.CALLEE
    assert shown.variables == {"name": "Ada", "mobile": "(202) 555-0100", "note": "ring +44 20 7946 0958"}


def test_every_entry_of_a_page_and_every_part_of_an_entry_is_reached() -> None:
    turn = finding_samples.match().snippets[0].model_copy(update={"text": f"Too{HIDDEN} much."})
    page: Page[Any] = guarded(samples.page([finding_samples.match(snippets=[turn])] * 2), masks=True)
    assert [match.snippets[0].text for match in page.data] == ["Too much.", "Too much."]
    column = Column(name="+12025550100", type="string", sample=f"x{HIDDEN}", fill_rate=1.0)
    audience = guarded(samples.audience(columns=[column], phone_column="\u200btel"), masks=True)
    assert (audience.columns[0].name, audience.columns[0].sample, audience.phone_column) == ("+1202•••0100", "x", "tel")


def test_cells_whose_columns_become_the_same_are_all_kept() -> None:
    contact = samples.contact().model_copy(update={"values": {"a": "1", "a\u200b": "2", "\u2060a": "3"}})
    assert guarded(contact, masks=True).values == {"a": "1", "a (2)": "2", "a (3)": "3"}


def test_what_an_organization_wrote_itself_keeps_its_lines_and_numbers_and_loses_what_is_hidden() -> None:
    agent = samples.agent(name=f"A{HIDDEN}da", system_prompt=f"Say{HIDDEN} +12025550100.\nThen wait.")
    shown = guarded(agent.model_copy(update={"metadata": {f"no{HIDDEN}te": f"x{HIDDEN}"}}), masks=True)
    assert (shown.name, shown.system_prompt) == ("Ada", "Say +12025550100.\nThen wait.")
    assert shown.metadata == {"note": "x"}


def test_an_answer_without_anything_hidden_is_handed_on_as_it_is() -> None:
    agent = samples.agent()
    assert guarded(agent, masks=True) is agent
    assert guarded(None, masks=True) is None


def test_refused_rows_inside_an_answer_are_cleaned() -> None:
    error = samples.refused_row(message=f"cannot be 'x{HIDDEN}'", column="c\u200b", value_redacted=None)
    added = RowsAdded(audience_id="aud_1", received=1, added=0, invalid=1, duplicates=0, errors=[error])
    shown = guarded(added, masks=True).errors[0]
    assert (shown.message, shown.column, shown.value_redacted) == ("cannot be 'x'", "c", None)


def test_which_rows_are_of_people_that_an_audience_has_is_not_told_where_numbers_are_masked() -> None:
    bad = samples.refused_row(code="invalid_phone")
    again = samples.refused_row(code="duplicate_in_audience")
    added = RowsAdded(audience_id="aud_1", received=2, added=0, invalid=1, duplicates=1, errors=[bad, again])
    shown = guarded(added, masks=True)
    assert [error.code for error in shown.errors] == ["invalid_phone"]
    assert shown.duplicates == 1
    assert guarded(added, masks=False).errors == [bad, again]
    assert [error.code for error in guarded(samples.page([bad, again]), masks=True).data] == ["invalid_phone"]
    loose = guarded_json(RowsAdded, {"errors": [{"code": "duplicate_in_audience", "row_number": 124}]}, masks=True)
    assert loose == {"errors": []}
    page = guarded_json(RowError, {"data": [{"code": "duplicate_in_audience", "row_number": 124}]}, masks=True)
    assert page == {"data": []}


def test_numbers_that_another_service_gives_as_json_numbers_and_in_names_of_fields_are_masked() -> None:
    given = {
        "id": "cal_1",
        "to": 12025550161,
        "callee": 12025550160,
        "variables": {"p": 12025550159, "age": 44, "since": 2026},
        "recipient": {"msisdn": 12025550163, "visits": 12},
        "note +12025550158": "x",
        "size": 1_234_567,
    }
    shown = guarded_json(Call, given, masks=True)
    assert "555" not in str(shown)
    assert shown["to"] == "1202•••0161"
    assert (shown["variables"]["age"], shown["variables"]["since"], shown["size"]) == (44, 2026, 1_234_567)
    assert shown["recipient"]["visits"] == 12
    assert "note +1202•••0158" in shown
    assert guarded_json(Call, given, masks=False) == given


async def test_a_guarded_caller_asks_once_and_hands_on_key_and_media() -> None:
    caller = FakeCaller()
    call = await GuardedCaller(caller, masks=True).ask(get_call, GetCall(call_uuid="cal_1"), idempotency_key="k1")
    assert call.to == "+1202•••0100"
    assert [(asked.operation, asked.key) for asked in caller.asked] == [("get_call", "k1")]


def test_every_answer_with_a_contacts_number_or_cells_is_known() -> None:
    """Fields that are called like a number or like cells cannot be added to the contract unseen."""
    telling = {
        "to",
        "phone_number",
        "values",
        "variables",
        "text",
        "unanswered_questions",
        "greeting",
        "value_redacted",
    }
    items = {operation.item for operation in OPERATIONS.values() if operation.item is not None}
    found = {(item.__name__, name) for item in items for name in item.model_fields if name in telling}
    known = {(item.__name__, name) for item in items for name in untrusted_fields(item)}
    assert found - known == {("Agent", "variables")}
    assert ("Call", "to") in found
