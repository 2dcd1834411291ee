"""Counts in sentences, and that no sentence counts one of something in the plural."""

import re

import pytest

from callwright.contract.checks.counts import count_of
from callwright.contract.declaration.field_types import Spend
from callwright.tools.wording.value_descriptions import describe_value
from tests.house.tree import ROOT

_COUNTED = re.compile(
    r"\{[^{}]*\} ?(?:more )?(people|calls|contacts|attempts|cells|turns|imports|deployments|columns|fields)\b"
)
_NOT_ONE = re.compile(
    r"COLUMNS|SAMPLE|WATCHED|TURNS|deployment \{|len\(sent\.parts\)|len\(values\)|len\(header\)|attempt_count"
    r"|names\} calls|turns of|task\.fields"
)
"""What stands for a constant, for something else than a count, or for a count that is two at least."""


@pytest.mark.parametrize(
    ("count", "words"), [(0, "0 people"), (1, "1 person"), (2, "2 people"), (10_000, "10000 people")]
)
def test_one_is_said_in_the_singular_and_all_else_in_the_plural(count: int, words: str) -> None:
    assert count_of(count, "person", "people") == words


def test_without_a_plural_an_s_is_added() -> None:
    assert [count_of(count, "call") for count in (1, 2)] == ["1 call", "2 calls"]


@pytest.mark.parametrize("folder", ["service", "server", "tools"])
def test_no_text_counts_in_the_plural_alone(folder: str) -> None:
    found = [
        f"{path.name}: {line.strip()}"
        for path in sorted((ROOT / folder).rglob("*.py"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if _COUNTED.search(line) and not _NOT_ONE.search(line)
    ]
    assert found == []


def test_an_amount_in_a_sentence_has_its_currency() -> None:
    assert describe_value(Spend(amount="9")) == "9.00 USD"
