"""Differences of two texts, as a person reads them."""

import time

from callwright.service.rules.text_differences import AROUND, MOST_COMPARED, differences

LONG = "x" * 100


def lines_of(before: str, after: str) -> list[str]:
    return differences(before, after).split("\n")


def test_equal_texts_have_none() -> None:
    assert differences("a\nb", "a\nb") == ""


def test_what_was_taken_out_and_put_in_stands_between_what_both_have() -> None:
    assert lines_of("a\nb\nc", "a\nB\nc") == ["  a", "- b", "+ B", "  c"]
    assert lines_of("", "a\nb") == ["+ a", "+ b"]
    assert lines_of("a\nb", "") == ["- a", "- b"]


def test_equal_lines_far_from_a_change_are_left_out() -> None:
    before = [str(number) for number in range(30)]
    after = [*before[:10], "new", *before[10:20], *before[21:]]
    found = lines_of("\n".join(before), "\n".join(after))
    assert found == ["…", "  8", "  9", "+ new", "  10", "  11", "…", "  18", "  19", "- 20", "  21", "  22", "…"]
    assert AROUND == 2


def test_a_long_line_is_compared_sentence_by_sentence_in_any_script() -> None:
    assert lines_of(f"{LONG}. Say yes. {LONG}.", f"{LONG}. Say no. {LONG}.") == [
        f"  {LONG}.",
        "- Say yes.",
        "+ Say no.",
        f"  {LONG}.",
    ]
    assert lines_of(f"{LONG}。 好。 {LONG}", f"{LONG}。 不。 {LONG}")[1:3] == ["- 好。", "+ 不。"]


def test_texts_that_differ_only_in_white_space_differ() -> None:
    assert lines_of("a\n", "a") == ["  a", "- "]
    assert differences(f"{LONG}. {LONG}.", f"{LONG}.  {LONG}.") != ""


def test_however_the_texts_are_made_a_comparison_takes_a_bounded_time() -> None:
    worst = ["\n".join(f"{number * step % 97}" for number in range(10_000)) for step in (1, 5)]
    worst += ["\n".join(f"{number * step % 31}" for number in range(MOST_COMPARED)) for step in (3, 7)]
    began = time.perf_counter()
    for before, after in zip(worst[::2], worst[1::2], strict=True):
        found = lines_of(before, after)
        assert {line[:2] for line in found} <= {"  ", "- ", "+ ", "…"}
    assert time.perf_counter() - began < 5
