"""Neither refused rows nor names of columns show an assistant a contact's number whole."""

from typing import Any

import pytest
from mcp.types import CallToolResult

from tests.support.campaigns import make_agent, rent
from tests.support.imports import await_import
from tests.support.mcp.over_http import WAYS, Era, Over, Served
from tests.support.processes.programs import Assistant

pytestmark = pytest.mark.service(workers=True)

CELLS = ("2025550143", "12025550143x", "Anna 2025550143", "+1x2025550143", "12025550143.0", "٢٠٢٥٥٥٠١٤٣")
MIDDLES = ("555014", "٥٥٥٠١٤")
"""Long enough that no id has them by chance."""
COLUMNS = ("timezone", "sim.outcome", "sim.language", "phone_number")


def _rows() -> list[dict[str, Any]]:
    return [{"phone_number": "+12065550100", column: cell} for column in COLUMNS for cell in CELLS]


def _csv() -> str:
    rows = [",".join(str(row.get(name, "")) for name in COLUMNS) for row in _rows()]
    return "\n".join([",".join(COLUMNS), *rows, ""]).replace("\n,", "\n+12065550100,")


def _data(result: CallToolResult) -> dict[str, Any]:
    return result.structured_content or {}


def _hides(shown: object) -> None:
    assert "•••" in str(shown)
    assert not any(middle in str(shown) for middle in MIDDLES), shown


@pytest.mark.parametrize(("over", "era"), WAYS)
async def test_a_refused_value_is_masked_in_every_answer_that_shows_it(served: Served, over: Over, era: Era) -> None:
    async with served.assistant(over=over, era=era) as hand:
        made = await hand.client.call_tool(
            "create_audience", {"name": "A", "timezone_column": "timezone", "rows": _rows()}
        )
        assert len(_data(made)["errors"]) == len(CELLS) * len(COLUMNS) - 1  # one is a number that can be called
        _hides(made)
        audience = _data(made)["id"]
        _hides(await hand.client.call_tool("add_audience_rows", {"audience_id": audience, "rows": _rows()}))
        given = {"id": audience, "import_id": (await await_import(served.tenant, audience, _csv())).id}
        for tool in ("get_audience_import", "list_import_errors"):
            _hides(await hand.client.call_tool(tool, given))
        _hides(await hand.client.read_resource(f"callwright://audiences/{audience}/rejects.csv"))


NAMES = ("2025550143", "12025550143", "(202) 555-0143", "٢٠٢٥٥٥٠١٤٣")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.service(workers=True)
async def test_the_name_of_a_column_that_is_a_number_is_masked(served: Served, hand: Assistant, name: str) -> None:
    row = {"phone_number": "+12065550100", name: "UTC", "order 20261123": "1", "visits 2024-25": "2"}
    given = {"name": "A", "timezone_column": name, "external_id_column": name}
    made = await hand.client.call_tool("create_audience", {**given, "rows": [row, {**row, name: ""}]})
    audience = _data(made)["id"]
    await served.tenant.client.audiences.add_rows(id=audience, rows=[{**row, "phone_number": "+12065550101", name: ""}])
    _hides(made)
    for tool in ("get_audience", "list_audience_rows"):
        _hides(await hand.client.call_tool(tool, {"id": audience}))
    rows = await hand.use("list_audience_rows", audience_id=audience)
    assert {"order 20261123", "visits 2024-25"} < set(rows["data"][0]["values"])


WRITTEN = (
    "2025550143",
    "202-555-0143",
    "(202) 555-0143",
    "202.555.0143",
    "1202 555 0143",
    "+1 202 555 0143",
    "２０２５５５０１４３",
)
AT_ONCE = 2
"""Ways of writing that follow one another behind each word, so that each way and each word has its turn."""
BEFORE = ("sim.", "a.", "home.", "home_", "home", "home:", "a.b.", "x-")


@pytest.mark.parametrize("before", BEFORE)
async def test_a_column_named_by_a_number_behind_a_word_is_masked_in_every_answer(
    served: Served, hand: Assistant, before: str
) -> None:
    for place, column in enumerate(_written_behind(before)):
        row = {"phone_number": "+12065550100", column: "UTC"}
        made = await hand.client.call_tool("create_audience", {"name": f"A {place}", "rows": [row]})
        _hides_digits(made)
        audience = _data(made)["id"]
        _hides_digits(await hand.client.call_tool("add_audience_rows", {"audience_id": audience, "rows": [row]}))
        for tool in ("get_audience", "list_audience_rows"):
            _hides_digits(await hand.client.call_tool(tool, {"id": audience}))
        wrong = await await_import(served.tenant, audience, f"phone_number,{column}\n12,x\n")
        for tool in ("get_audience_import", "list_import_errors"):
            _hides_digits(await hand.client.call_tool(tool, {"id": audience, "import_id": wrong.id}))


def _written_behind(before: str) -> list[str]:
    first = BEFORE.index(before) if before else 0
    return [before + WRITTEN[(first + step) % len(WRITTEN)] for step in range(AT_ONCE)]


def _hides_digits(shown: object) -> None:
    digits = "".join(character for character in str(shown) if character.isdecimal() or character.isalpha())
    assert not any(middle in digits for middle in ("2025550143", "２０２５５５０１４３")), shown


@pytest.mark.parametrize("before", ["", *BEFORE])
async def test_a_consent_column_named_by_a_number_is_masked_in_every_answer(
    served: Served, hand: Assistant, before: str
) -> None:
    tenant = served.tenant
    agent, number = (await make_agent(tenant)).id, (await rent(tenant)).id
    person: dict[str, Any] = {"phone_number": "+12065550100", "first_name": "Ada"}
    other = await tenant.client.audiences.create(name="Others", rows=[person])
    for place, column in enumerate(_written_behind(before)):
        people = await tenant.client.audiences.create(name=f"People {place}", rows=[{**person, column: "no"}])
        made = await hand.client.call_tool(
            "create_deployment",
            {
                "name": f"C {place}",
                "agent_id": agent,
                "audience_id": people.id,
                "phone_number_ids": [number],
                "compliance": {"consent_column": column},
            },
        )
        _hides_digits(made)
        assert not made.is_error, str(made.content)[:3000]
        deployment = {"id": _data(made)["id"]}
        for tool in ("get_deployment", "preview_deployment", "list_deployments", "start_deployment"):
            _hides_digits(await hand.client.call_tool(tool, {} if tool.startswith("list") else deployment))
        _hides_digits(await hand.client.read_resource(f"callwright://deployments/{deployment['id']}"))
        given = {**deployment, "audience_id": other.id}
        _hides_digits(await hand.client.call_tool("update_deployment", given))
        _hides_digits(await hand.client.call_tool("preview_deployment", deployment))


async def test_a_steering_column_that_is_a_number_is_masked(hand: Assistant) -> None:
    rows = [{"phone_number": "+12065550100", "sim.2025550143": "1"}]
    made = await hand.client.call_tool("create_audience", {"name": "A", "rows": rows})
    assert "sim." in str(made)
    _hides(made)
