"""What the arguments of a tool may be, besides what its schema says."""

import json

import pytest

from callwright.contract.checks.argument_schemas import problems_of

SCHEMA = {
    "type": "object",
    "properties": {"price": {"type": "number", "minimum": 1, "maximum": 9}, "sizes": {"type": "array"}},
    "additionalProperties": True,
}


@pytest.mark.requirement("CALLTOOL-13")
@pytest.mark.parametrize(
    ("arguments", "place"),
    [
        ('{"price": NaN}', "price"),
        ('{"sizes": [1, 1e999]}', "sizes[1]"),
        ('{"more": {"of": -Infinity}}', "more.of"),
    ],
)
def test_what_is_no_number_of_json_is_refused_by_its_place(arguments: str, place: str) -> None:
    problems = problems_of(json.loads(arguments), SCHEMA)
    assert [one for one in problems if one.startswith(f"{place} must be a number, not ")] == problems[-1:]


def test_numbers_within_their_bounds_fit() -> None:
    assert problems_of({"price": 2.5, "sizes": [1, 2.0], "more": {"of": 0}}, SCHEMA) == []
