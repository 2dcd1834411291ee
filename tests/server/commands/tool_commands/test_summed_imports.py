"""Answers to the parts of a do-not-call file as one answer."""

import io
from typing import Any

from callwright.contract.do_not_call import DoNotCallImported, RefusedNumber
from callwright.server.commands.tool_commands.summed_imports import SummedImports
from callwright.tools.arguments.csv_parts import parts_of

ROW = 'a,"b\r\nc"\r\n'
NOTICE = "2 rows: the note was cut; line 2, 4"


def answer(*notices: str, **fields: Any) -> DoNotCallImported:
    counts = dict.fromkeys(("received", "added", "extended", "already_there", "kept_permanent", "refused"), 1)
    lists = {"number_columns": ["a"], "unread_number_columns": [], "notices": list(notices), "errors": []}
    return DoNotCallImported.model_validate({**counts, "read_as": "CSV", **lists, **fields})


def summed(*answers: DoNotCallImported) -> DoNotCallImported:
    """The sum for a file whose parts have three rows, of two lines each."""
    text = "a,b\r\n" + ROW * 3 * len(answers)
    parts = list(parts_of(io.BytesIO(text.encode()), part_bytes=55))
    assert [part.last_row for part in parts] == [3 * number for number in range(1, len(answers) + 1)]
    found = SummedImports()
    for part, one in zip(parts, answers, strict=True):
        found.add(part, one)
    return found.whole()


def test_counts_are_added_and_rows_and_lines_are_those_of_the_file() -> None:
    wrong = RefusedNumber(row_number=2, line=4, field="number", code="invalid_phone", message="none")
    found = summed(answer(errors=[wrong]), answer(errors=[wrong]))
    assert (found.received, found.refused) == (2, 2)
    assert [(one.row_number, one.line) for one in found.errors] == [(2, 4), (5, 10)]


def test_notices_of_a_kind_become_one_with_the_first_lines_of_the_file() -> None:
    whole = summed(*[answer(NOTICE)] * 6)
    assert whole.notices == ["12 rows: the note was cut; line 2, 4, 8, 10, 14, 16, 20, 22, 26, 28 and 2 more"]


def test_a_notice_in_unknown_words_says_of_which_rows_it_is() -> None:
    assert summed(answer(), answer("All is well.")).notices == ["rows 4 to 6: All is well."]


def test_a_column_that_was_read_in_one_part_is_not_told_as_unread_and_errors_end_at_a_hundred() -> None:
    wrong = [
        RefusedNumber(row_number=1, line=2, field="number", code="invalid_phone", message="none") for _ in range(60)
    ]
    found = summed(answer(unread_number_columns=["b"], errors=wrong), answer(number_columns=["b"], errors=wrong))
    assert (found.number_columns, found.unread_number_columns, len(found.errors)) == (["a", "b"], [], 100)
