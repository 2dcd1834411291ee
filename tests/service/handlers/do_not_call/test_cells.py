"""Cells of an imported do-not-call list as people write them: whatever else of a row is odd, its number is listed."""

from datetime import UTC, datetime
from typing import Any

import pytest

from callwright.contract.do_not_call import DoNotCallEntry, DoNotCallImported
from tests.support.do_not_call import add, listed
from tests.support.service import Tenant

pytestmark = pytest.mark.requirement("DNC-08")
MOBILE, LANDLINE = "+4915112360003", "+493012360004"


async def imported(tenant: Tenant, text: str, **fields: Any) -> tuple[DoNotCallImported, dict[str, DoNotCallEntry]]:
    """The answer to an import, and the entries of the list by number."""
    answer = await tenant.client.do_not_call.import_csv(csv=text, **fields)
    return answer, {entry.number: entry for entry in await listed(tenant)}


@pytest.mark.parametrize(
    ("written", "reason", "note"),
    [
        ("Opted Out", "opted_out", "by mail"),
        ("WRONG-NUMBER", "wrong_number", "by mail"),
        ("verstorben", "deceased", "by mail"),
        ("dead", "deceased", "by mail"),
        ("DNC", "other", "by mail; reason: DNC"),
        ("call 0151 12360003", "other", "by mail; reason: call 015• ••••••03"),
        ("x" * 3_000, "other", f"by mail; reason: {'x' * 100}"),
    ],
)
async def test_an_unknown_reason_is_taken_as_other_and_kept_in_the_note(
    written: str, reason: str, note: str, tenant: Tenant
) -> None:
    answer, found = await imported(tenant, f"number,reason,note\n{MOBILE},{written},by mail\n")
    assert (answer.added, answer.refused) == (1, 0)
    assert (found[MOBILE].reason, found[MOBILE].note) == (reason, note)
    assert any("taken as other" in said and said.endswith("line 2") for said in answer.notices) is (reason == "other")


async def test_a_note_that_is_too_long_or_has_hidden_characters_is_cut_and_its_number_listed(tenant: Tenant) -> None:
    text = f"number,reason,note\n{MOBILE},DNC,{'n' * 5_000}\n{LANDLINE},,by\u202email\n"
    answer, found = await imported(tenant, text)
    assert (answer.added, answer.refused) == (2, 0)
    assert (len(found[MOBILE].note), found[MOBILE].note.endswith("n; reason: DNC")) == (2_000, True)
    assert found[LANDLINE].note == "bymail"
    assert any(said.startswith("2 rows: the note was cut") for said in answer.notices)


@pytest.mark.parametrize("written", ["never", "46387", "31/12/2030", "2027-02-30", "9999-12-31", "unbefristet"])
async def test_an_end_that_cannot_be_read_makes_the_entry_permanent_and_the_answer_says_so(
    written: str, tenant: Tenant
) -> None:
    answer, found = await imported(tenant, f"number,expires_at\n{MOBILE},{written}\n")
    assert (answer.added, answer.refused, found[MOBILE].expires_at) == (1, 0, None)
    assert answer.notices == ["1 row: expires_at cannot be read, so that the numbers are on the list for good; line 2"]


@pytest.mark.parametrize(
    ("written", "moment"),
    [
        ("2997-12-31", datetime(2997, 12, 31, 23, 59, 59, tzinfo=UTC)),
        ("31.12.2997", datetime(2997, 12, 31, 23, 59, 59, tzinfo=UTC)),
        ("2997-12-31 10:00", datetime(2997, 12, 31, 10, tzinfo=UTC)),
        ("1.2.2997 10:00:30", datetime(2997, 2, 1, 10, 0, 30, tzinfo=UTC)),
        ("2997-12-31T10:00:00+02:00", datetime(2997, 12, 31, 8, tzinfo=UTC)),
    ],
)
async def test_a_day_ends_at_its_end_and_a_time_without_an_offset_is_in_utc(
    written: str, moment: datetime, tenant: Tenant
) -> None:
    answer, found = await imported(tenant, f"number,expires_at\n{MOBILE},{written}\n")
    assert (answer.notices, found[MOBILE].expires_at) == ([], moment)


async def test_an_end_that_is_over_refuses_its_row_also_as_a_day(tenant: Tenant) -> None:
    answer, found = await imported(tenant, f"number,expires_at\n{MOBILE},31.12.2020\n")
    assert ([one.code for one in answer.errors], found) == (["already_over"], {})


@pytest.mark.parametrize(
    "cell",
    [
        f"{MOBILE} / {LANDLINE}",
        f"{MOBILE}/{LANDLINE}",
        f"{MOBILE};{LANDLINE}",
        f"{MOBILE},{LANDLINE}",
        f"{MOBILE}\n{LANDLINE}",
        f"{MOBILE} (mobil), 030 12360004 Festnetz",
        f"{MOBILE} {LANDLINE}",
    ],
)
async def test_two_numbers_in_a_cell_are_both_on_the_list(cell: str, tenant: Tenant) -> None:
    answer, found = await imported(tenant, f'number,name\n"{cell}",Ada\n')
    assert (answer.received, answer.added, answer.refused) == (2, 2, 0)
    assert set(found) == {MOBILE, LANDLINE}


@pytest.mark.parametrize(
    "cell",
    [
        "+49 30 12360004 ext. 12",
        "+49 30 12360004 x12",
        "+49 30 12360004 (mobil)",
        "+49 30 12360004 seit 01.02.2024",
        "Tel.: +49 30 12360004",
        "DO NOT CALL +49 30 12360004",
        "verstorben: +49 30 12360004 †",
        "🚫 +49 30 12360004 ✗",
        "\u200e+49 30 12360004\u202c",
    ],
)
async def test_an_extension_or_a_remark_is_dropped_and_the_number_listed(cell: str, tenant: Tenant) -> None:
    answer, found = await imported(tenant, f"number,name\n{cell},Ada\n")
    assert (answer.added, answer.refused, set(found)) == (1, 0, {LANDLINE})


async def test_numbers_with_nothing_but_a_blank_between_them_are_all_listed(tenant: Tenant) -> None:
    answer, found = await imported(tenant, "number\n2125550107 2125550108\n", default_country="US")
    assert (answer.added, answer.refused, set(found)) == (2, 0, {"+12125550107", "+12125550108"})


async def test_numbers_that_are_added_one_by_one_are_read_in_the_same_way(tenant: Tenant) -> None:
    answer = await add(tenant, [{"number": f"{MOBILE} / {LANDLINE} ext. 3", "reason": "litigator"}])
    assert (answer.received, answer.added) == (2, 2)
    assert {(one.number, one.reason) for one in await listed(tenant)} == {
        (MOBILE, "litigator"),
        (LANDLINE, "litigator"),
    }


async def test_a_part_of_a_cell_that_is_no_number_is_named_and_the_other_listed(tenant: Tenant) -> None:
    answer, found = await imported(tenant, f"number,name\n{MOBILE} / 12345678901234,Ada\n")
    assert (set(found), [one.code for one in answer.errors]) == ({MOBILE}, ["invalid_phone"])


async def test_every_column_that_is_clearly_of_numbers_is_read_and_the_answer_names_them(tenant: Tenant) -> None:
    text = f"mobile,landline,customer,Fax note\n{MOBILE},{LANDLINE},10023456,none\n,+493012360005,10023457,\n"
    answer, found = await imported(tenant, text)
    assert set(found) == {MOBILE, LANDLINE, "+493012360005"}
    assert (answer.refused, answer.number_columns, answer.unread_number_columns) == (0, ["mobile", "landline"], [])


async def test_a_column_that_was_named_is_the_only_one_and_the_answer_names_the_other(tenant: Tenant) -> None:
    answer, found = await imported(tenant, f"mobile,landline\n{MOBILE},{LANDLINE}\n", number_column="mobile")
    assert set(found) == {MOBILE}
    assert (answer.number_columns, answer.unread_number_columns) == (["mobile"], ["landline"])


@pytest.mark.parametrize(("word", "listed_"), [("WAHR", 0), ("VRAI", 0), ("FALSCH", 1), ("faux", 1), ("", 1)])
async def test_the_word_of_a_spreadsheet_says_which_list_a_row_is_of(word: str, listed_: int, tenant: Tenant) -> None:
    answer, found = await imported(tenant, f"number,simulated\n{MOBILE},{word}\n")
    assert (answer.added, len(found)) == (listed_, listed_)
