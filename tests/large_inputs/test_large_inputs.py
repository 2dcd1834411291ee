"""No input of a size that is taken holds the event loop, whatever it is and wherever it stands."""

from collections.abc import Callable, Iterable
from itertools import islice
from pathlib import Path

import pytest

from callwright.contract.surface import OPERATIONS
from callwright.tools.catalogue import TOOLS

from .cases import Case, envelope_cases, rest_cases, tool_cases
from .measuring import meter

PARTS = 4
"""Tests that share the cases of a door, so that several can run at once."""
DOORS: dict[str, Callable[[], Iterable[Case]]] = {
    "operations": lambda: rest_cases(every_field=False),
    "tools": lambda: tool_cases(every_field=False),
    "envelopes": envelope_cases,
}


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("door", DOORS)
async def test_a_large_input_costs_little_more_than_reading_it(
    database_url: str, tmp_path: Path, door: str, part: int
) -> None:
    faults: list[str] = []
    async with meter(database_url, tmp_path) as measures:
        for case in islice(DOORS[door](), part, None, PARTS):
            faults += await measures.faults(case)
    assert faults == []


def test_every_operation_and_every_tool_has_its_cases() -> None:
    assert {case.name.split(" ")[0] for case in rest_cases(every_field=False)} == set(OPERATIONS)
    assert {case.name.split(" ")[0] for case in tool_cases(every_field=False)} == {tool.name for tool in TOOLS}
