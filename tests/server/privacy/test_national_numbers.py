"""Cells that hold a telephone number without its country: masked by the person's own, in any column."""

from typing import Any

import pytest

from tests.support.mcp.masked_answers import answers, shown
from tests.support.tools import samples
from tests.support.tools.fakes import FakeCaller, assistant, server

PEOPLE = (
    ("+12025550100", "mobile2", "5125551234"),
    ("+12025550100", "reach them at", "512 555-1234"),
    ("+491715550100", "handy", "1712345678"),
    ("+491715550100", "evening", "171 2345678"),
    ("+33612345670", "soir", "612345678"),
)
CELLS_WITH_PEOPLE = ("list_contacts", "list_audience_rows", "list_calls", "get_call")


def _with_cells(number: str, cells: dict[str, str], tool: str) -> dict[str, Any]:
    contact = samples.contact().model_copy(update={"phone_number": number, "values": cells})
    row = samples.row().model_copy(update={"phone_number": number, "values": cells})
    call = samples.call(to=number, variables=cells)
    found: dict[str, Any] = {
        "list_contacts": samples.page([contact]),
        "list_audience_rows": samples.page([row]),
        "list_calls": samples.page([call]),
        "get_call": call,
    }
    return answers() | {tool: found[tool]}


async def _shown_of(tool: str, found: dict[str, Any]) -> str:
    given: dict[str, Any] = {
        "list_contacts": {"deployment_id": "dep_1", "fields": ["id", "values"]},
        "list_audience_rows": {"audience_id": "aud_1"},
        "list_calls": {"fields": ["id", "variables"]},
        "get_call": {"call_id": "cal_1"},
    }[tool]
    async with assistant(server(FakeCaller(answers=found)), "auto") as client:
        return shown(await client.call_tool(tool, given))


@pytest.mark.parametrize("tool", CELLS_WITH_PEOPLE)
@pytest.mark.parametrize(("number", "column", "cell"), PEOPLE)
async def test_a_cell_that_is_a_number_of_the_persons_country_is_masked_in_any_column(
    number: str, column: str, cell: str, tool: str
) -> None:
    text = await _shown_of(tool, _with_cells(number, {column: cell}, tool))
    assert cell not in text
    assert f"•••{cell[-2:]}" in text or f"•••{cell[-4:]}" in text


@pytest.mark.parametrize(
    ("column", "cell"),
    [
        ("order_number", "5125551234"),
        ("Bestellnummer", "5125551234"),
        ("customerId", "5125551234"),
        ("reach", "1125551234"),
        ("reach", "51255512"),
        ("reach", "order 5125551234"),
        ("since", "2026-11-21"),
        ("paid", "1234567.50"),
    ],
)
async def test_a_cell_that_is_no_number_of_the_persons_country_or_of_another_kind_stays(column: str, cell: str) -> None:
    for tool in CELLS_WITH_PEOPLE:
        assert cell in await _shown_of(tool, _with_cells("+12025550100", {column: cell}, tool))


@pytest.mark.parametrize(("others", "hidden"), [("+491712345670", True), ("4411223344", False)])
async def test_where_no_country_is_known_most_cells_of_the_column_decide(others: str, hidden: bool) -> None:
    cells = [others, others, "1712345678"]
    people = [{"id": f"ctc_{i}", "phone_number": "hidden", "values": {"evening": cell}} for i, cell in enumerate(cells)]
    text = await _shown_of("list_contacts", answers() | {"list_contacts": {"data": people}})
    assert ("1712345678" in text) is not hidden


@pytest.mark.parametrize("cell", ["4187775123", "(418) 777-5124", "418 777 5125"])
async def test_an_id_that_is_the_number_in_a_cell_beside_it_is_masked_as_that_cell_is(cell: str) -> None:
    row = samples.row().model_copy(update={"external_id": cell, "values": {"mobile": cell}})
    text = await _shown_of("list_audience_rows", answers() | {"list_audience_rows": samples.page([row])})
    assert cell not in text
    other = samples.row().model_copy(update={"external_id": "4187775123", "values": {"customer": "4187775123"}})
    text = await _shown_of("list_audience_rows", answers() | {"list_audience_rows": samples.page([other])})
    assert text.count("4187775123") >= 2
