"""Words about rows of a file, and how they are read back."""

import pytest

from callwright.contract.checks.row_notices import RowNotice, read_notice


@pytest.mark.parametrize(
    ("notice", "words"),
    [
        (RowNotice("it was cut", 1, [7]), "1 row: it was cut; line 7"),
        (RowNotice("cut; line by line", 2, [999, 1_204]), "2 rows: cut; line by line; line 999, 1,204"),
    ],
)
def test_a_notice_is_read_back_as_it_was_written(notice: RowNotice, words: str) -> None:
    assert str(notice) == words
    assert read_notice(words) == notice


def test_of_many_rows_the_first_ten_lines_are_named_and_the_others_counted() -> None:
    words = str(RowNotice("cut", 1_500, range(1_000, 2_500)))
    assert words.endswith("1,008, 1,009 and 1490 more")
    found = read_notice(words)
    assert found == RowNotice("cut", 1_500, list(range(1_000, 1_010)))


@pytest.mark.parametrize("words", ["", "2 rows: cut", "All rows: cut; line 3", "2 rows: cut; line x"])
def test_other_words_are_no_notice(words: str) -> None:
    assert read_notice(words) is None
