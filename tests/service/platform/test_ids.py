"""Identifiers: prefixed, unique, and in the order of their making."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.service.platform.ids import ALPHABET, Chance, Ids, base62


@given(st.integers(0, 62**8 - 1))
def test_base62_is_read_back_by_its_digits(number: int) -> None:
    text = base62(number, 8)
    assert len(text) == 8
    assert sum(ALPHABET.index(digit) * 62**place for place, digit in enumerate(reversed(text))) == number


@given(st.integers(0, 62**8 - 1), st.integers(0, 62**8 - 1))
def test_base62_sorts_like_its_numbers(first: int, second: int) -> None:
    assert (base62(first, 8) < base62(second, 8)) == (first < second)


@given(st.lists(st.integers(0, 2**45), min_size=2, max_size=20, unique=True))
def test_ids_sort_by_the_moment_of_their_making(moments: list[int]) -> None:
    made = {ms: Ids(lambda ms=ms: ms).new("agt") for ms in moments}
    assert [made[ms] for ms in sorted(moments)] == sorted(made.values())


@pytest.mark.requirement("CONV-14")
def test_an_id_has_its_prefix_and_24_characters() -> None:
    made = Ids(lambda: 1_800_000_000_000).new("dep")
    assert made.startswith("dep_")
    assert len(made) == 28
    assert set(made[4:]) <= set(ALPHABET)


def test_ids_of_one_moment_differ() -> None:
    ids = Ids(lambda: 0)
    assert len({ids.new("cal") for _ in range(10_000)}) == 10_000


def test_ids_made_together_are_as_ids_made_one_by_one() -> None:
    ids = Ids(lambda: 7)
    made = ids.several("ctc", 1_000)
    assert len({*made, ids.new("ctc")}) == 1_001
    assert {(one[:12], len(one)) for one in made} == {("ctc_00000007", 28)}
    assert ids.several("ctc", 0) == []


def test_the_same_chance_makes_the_same_id() -> None:
    assert Ids(lambda: 7, lambda count: "x" * count).new("agt") == "agt_00000007" + "x" * 16


def test_chance_asks_the_system_seldom_and_never_gives_the_same_bytes_twice() -> None:
    asked: list[int] = []

    def counting(size: int) -> bytes:
        asked.append(size)
        return bytes((len(asked) * 7 + place // 200) % 256 for place in range(size))

    chance = Chance(counting)
    given = "".join(chance.digits(16) for _ in range(40))
    whole = Chance(lambda size: bytes((7 + place // 200) % 256 for place in range(size))).digits(1_000)
    assert len(asked) == 1
    assert given == whole[:640]
    assert len(chance.digits(2_000)) == 2_000
    assert len(asked) == 3


def test_every_digit_is_as_likely() -> None:
    every_byte_four_times = bytes(range(256)) * 4
    assert Counter(Chance(lambda _: every_byte_four_times).digits(248 * 4)) == dict.fromkeys(ALPHABET, 16)
