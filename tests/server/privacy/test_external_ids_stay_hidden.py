"""Hidden digits of a number that stands in an external id are not found by trying, and other ids are not in the way."""

from typing import Any

import pytest

from callwright.tools.numbers.number_guesses import MOST_ALIKE, MOST_ALIKE_ADDED
from tests.support.mcp.over_http import WAYS, Era, Over, Served
from tests.support.processes.programs import Assistant
from tests.support.service import Tenant

pytestmark = pytest.mark.service(workers=True)

WRITTEN = (
    "202{:03d}0178",
    "202{:03d}0178\u200b",
    "202{:03d}\u30000178",
    "(202) {:03d}-0178",
    "+1202{:03d}0178",
    "202{:03d}0178.0",
    "٢٠٢{:03d}٠١٧٨",
)
HIDDEN = 555


def _people(written: str, column: str, first: int, count: int) -> list[dict[str, Any]]:
    ids = range(first, first + count)
    return [{"phone_number": f"+1206555{i:04d}", column: written.format(i)} for i in ids]


async def _audience(tenant: Tenant, written: str, column: str, **fields: Any) -> str:
    rows = _people(written, column, HIDDEN, 1)
    made = await tenant.client.audiences.create(name="Patients", external_id_column=column, rows=rows, **fields)
    return made.id


async def _looked_for(hand: Assistant, audience: str, written: str, count: int = 12) -> list[bool]:
    arguments = [{"id": audience, "external_id": written.format(200 + i)} for i in range(count)]
    found = [await hand.client.call_tool("list_audience_rows", each) for each in arguments]
    return [result.is_error is True for result in found]


@pytest.mark.parametrize("written", WRITTEN)
async def test_a_few_external_ids_that_are_numbers_and_look_alike_may_be_looked_for_and_no_more(
    served: Served, hand: Assistant, written: str
) -> None:
    audience = await _audience(served.tenant, written, "home")
    shown = (await hand.use("list_audience_rows", audience_id=audience))["data"][0]
    assert "•••" in shown["external_id"]
    assert shown["external_id"] == shown["values"]["home"]
    assert await _looked_for(hand, audience, written) == [False] * MOST_ALIKE + [True] * (12 - MOST_ALIKE)
    said = await hand.refused("list_audience_rows", audience_id=audience, external_id=written.format(HIDDEN))
    assert "Too many different numbers that look like" in said
    assert str(HIDDEN) not in said


@pytest.mark.parametrize(("over", "era"), WAYS)
@pytest.mark.service(workers=True)
async def test_counts_of_duplicates_do_not_tell_which_external_id_is_there(
    served: Served, over: Over, era: Era
) -> None:
    written, column = "202{:03d}0178", "home"
    async with served.assistant(over=over, era=era) as hand:
        audience = await _audience(served.tenant, written, column, dedupe="external_id")
        rows = _people(written, column, 200, MOST_ALIKE_ADDED + 1)
        csv = "\n".join(["phone_number, home ", *(f"+491711234567,{row[column]}" for row in rows)])
        given = {"name": "B", "external_id_column": column, "dedupe": "external_id"}
        refusals = [
            await hand.refused("add_audience_rows", audience_id=audience, rows=rows),
            await hand.refused("import_audience", audience_id=audience, csv=csv),
            await hand.refused("create_audience", **given, rows=rows),
        ]
        for said in refusals:
            assert (
                f"Nothing was added: more than {MOST_ALIKE_ADDED} different numbers that look like 202•••0178" in said
            )
        assert (await served.tenant.client.audiences.get(id=audience)).row_count == 1
        unseen = [{**row, column: f"{row[column]}\u200b"} for row in rows]
        assert "Nothing was added" in await hand.refused("add_audience_rows", audience_id=audience, rows=unseen)
        added = await hand.use("add_audience_rows", audience_id=audience, rows=rows[:MOST_ALIKE_ADDED])
        assert added["added"] == MOST_ALIKE_ADDED
        await hand.refused("add_audience_rows", audience_id=audience, rows=_people(written, column, HIDDEN, 1))


@pytest.mark.service(workers=True)
async def test_where_external_ids_tell_nobody_apart_they_are_not_counted(served: Served, hand: Assistant) -> None:
    written, column = "202{:03d}0178", "home"
    audience = await _audience(served.tenant, written, column)
    rows = _people(written, column, 200, 100)
    assert (await hand.use("add_audience_rows", audience_id=audience, rows=rows))["added"] == 100


@pytest.mark.parametrize(
    ("column", "written"),
    [
        ("home", "CUST-{:06d}"),
        ("home", "{:06d}"),
        ("home", "{:08x}-1d4f-4c55-9c5e-0242ac120002"),
        ("customer_id", "20{:03d}0017"),
        ("customer_id", "202{:03d}0178"),
        ("order number", "49{:03d}1234567"),
    ],
)
async def test_ordinary_external_ids_are_looked_for_and_added_as_often_as_wanted(
    served: Served, hand: Assistant, column: str, written: str
) -> None:
    audience = await _audience(served.tenant, written, column, dedupe="external_id")
    assert await _looked_for(hand, audience, written, 40) == [False] * 40
    added = await hand.use("add_audience_rows", audience_id=audience, rows=_people(written, column, 600, 300))
    assert added["added"] == 300


@pytest.mark.parametrize(("column", "first"), [("home", 2_025_550_000), ("customer_id", 100_000_000)])
async def test_two_thousand_customer_numbers_that_follow_one_another_are_added(
    hand: Assistant, column: str, first: int
) -> None:
    given = {"name": "Customers", "external_id_column": column, "dedupe": "external_id"}
    audience = (await hand.use("create_audience", **given))["id"]
    for begin in range(0, 2_000, 1_000):
        ids = range(begin, begin + 1_000)
        rows = [{"phone_number": f"+1206{5_550_000 + i}", column: first + i} for i in ids]
        assert (await hand.use("add_audience_rows", audience_id=audience, rows=rows))["added"] == 1_000
    looked_for = [
        await hand.use("list_audience_rows", audience_id=audience, external_id=str(first + 37 * i)) for i in range(30)
    ]
    assert all(len(found["data"]) == 1 for found in looked_for)


@pytest.mark.parametrize("number", ["2025550143", "(202) 555-0143", "12025550143"])
async def test_an_external_id_that_is_the_number_itself_is_masked_as_the_number_is(
    served: Served, hand: Assistant, number: str
) -> None:
    rows: list[dict[str, Any]] = [{"who": number, "first_name": "Ada"}]
    fields: dict[str, Any] = {"phone_column": "who", "external_id_column": "who", "default_country": "US"}
    made = await served.tenant.client.audiences.create(name="Own", rows=rows, **fields)
    shown = (await hand.use("list_audience_rows", audience_id=made.id))["data"][0]
    assert "555" not in shown["external_id"]
    assert await _looked_for(hand, made.id, "202{:03d}0143") == [False] * MOST_ALIKE + [True] * (12 - MOST_ALIKE)


async def test_a_number_in_a_name_is_not_found_by_trying_names(served: Served, hand: Assistant) -> None:
    await served.tenant.client.audiences.create(name=f"Callback +1202{HIDDEN}0178")
    for i in range(MOST_ALIKE):
        await hand.use("list_audiences", name=f"Callback +1202{200 + i}0178")
    said = await hand.refused("list_audiences", name=f"Callback +1202{HIDDEN}0178")
    assert "+1202•••0178" in said
    await hand.refused("create_audience", name=f"Callback +1202{HIDDEN}0178")
    await hand.use("list_audiences", name="Callback 2026")


async def test_a_number_in_a_name_is_not_found_by_trying_names_in_place_of_ids(served: Served, hand: Assistant) -> None:
    await served.tenant.client.audiences.create(name=f"Tel 202{HIDDEN}0178")
    for i in range(MOST_ALIKE):
        assert "Too many" not in await hand.refused("get_audience", audience_id=f"Tel 202{200 + i}0178")
    assert "Too many different numbers" in await hand.refused("get_audience", audience_id=f"Tel 202{HIDDEN}0178")
