"""No input of a size that is taken holds the event loop, whatever it is and wherever it stands."""

import gc
from collections.abc import Callable, Iterable
from itertools import islice
from pathlib import Path

import orjson
import pytest

from callwright.contract.surface import OPERATIONS
from callwright.tools.catalogue.registry import TOOLS
from tests.large_inputs.cases import ENTRIES, Case, envelope_cases, message_cases, rest_cases, tool_cases
from tests.large_inputs.legitimate import filled, legitimate_cases
from tests.large_inputs.measuring import FLOOR_S, RUNS, meter

REQUESTS = 30
PARTS = (0, 1, pytest.param(2, marks=pytest.mark.long), pytest.param(3, marks=pytest.mark.long))
"""Tests that share the cases of one source, in which the shapes take turns."""
SOURCES: dict[str, Callable[[], Iterable[Case]]] = {
    "operations": lambda: rest_cases(every_field=False),
    "tools": lambda: tool_cases(every_field=False),
    "envelopes": envelope_cases,
    "messages": message_cases,
    "legitimate": legitimate_cases,
}


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("source", SOURCES)
async def test_a_large_input_costs_little_more_than_reading_it(
    database_url: str, tmp_path: Path, source: str, part: int
) -> None:
    faults: list[str] = []
    async with meter(database_url, tmp_path) as measures:
        for case in islice(SOURCES[source](), part, None, len(PARTS)):
            faults += await measures.faults(case)
    assert faults == []


def test_every_operation_and_every_tool_has_its_cases() -> None:
    assert {case.name.split(" ")[0] for case in rest_cases(every_field=False)} == set(OPERATIONS)
    assert {case.name.split(" ")[0] for case in tool_cases(every_field=False)} == {tool.name for tool in TOOLS}


def test_what_is_sent_at_its_limits_is_right() -> None:
    for operation in OPERATIONS.values():
        is_import = operation.name == "import_audience"
        fields = [name for name in operation.takes.model_fields if not (is_import and name in ("file", "url"))]
        sent = orjson.dumps(filled(operation.takes, fields, ENTRIES))
        assert operation.takes.model_validate_json(sent), operation.name
    for tool in TOOLS:
        assert tool.arguments.model_validate_json(orjson.dumps(filled(tool.arguments, tool.offered, ENTRIES)))
    ours = [case for case in legitimate_cases() if case.succeeds]
    assert len(ours) == 6
    assert all(900_000 < len(case.sent(ENTRIES)) < 1_000_000 for case in ours)


@pytest.mark.parametrize("source", [rest_cases, tool_cases])
async def test_lists_in_a_body_do_not_make_the_garbage_collector_walk_all_that_the_process_keeps(
    database_url: str, tmp_path: Path, source: Callable[..., Iterable[Case]]
) -> None:
    walked: list[int] = []

    def note(phase: str, about: dict[str, int]) -> None:
        if phase == "start" and about["generation"] == 2:
            walked.append(1)

    (case,) = (case for case in source(every_field=True) if case.name == "create_agent name: lists that are taken")
    async with meter(database_url, tmp_path) as measures:
        gc.collect()
        gc.callbacks.append(note)
        try:
            for _ in range(REQUESTS):
                await measures.answered(case, ENTRIES)
        finally:
            gc.callbacks.remove(note)
    assert len(walked) <= 1


async def test_people_of_a_large_file_are_counted_beside_the_event_loop(database_url: str, tmp_path: Path) -> None:
    (case,) = (case for case in tool_cases(every_field=False) if case.name == "import_audience a file of short rows")
    async with meter(database_url, tmp_path) as measures:
        least_s = min([(await measures.measured(case, ENTRIES)).loop_s for _ in range(RUNS)])
    assert least_s < 3 * FLOOR_S  # counting them takes more than three times as long as that
