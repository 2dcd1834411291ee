"""Words for searching."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.service.rules.search_words import MAX_QUERY_WORDS, read_query, words_of


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Hello, Jörg! It's 12:30.", ["hello", "jorg", "it", "s", "12", "30"]),
        ("Straße", ["strasse"]),
        ("naïve CAFÉ", ["naive", "cafe"]),
        ("", []),
        ("… — !", []),
    ],
)
def test_latin_words_are_folded(text: str, words: list[str]) -> None:
    assert words_of(text) == words


def test_words_of_other_scripts_stay_whole() -> None:
    assert len(words_of("क्या गुरुवार ठीक है")) == 4
    assert words_of("Привет")[0] == words_of("ПРИВЕТ")[0]


@given(st.text())
def test_every_word_is_ascii_and_one_word_again(text: str) -> None:
    for word in words_of(text):
        assert word.isascii()
        assert word.isalnum()
        assert words_of(word) == [word]


def test_a_query_is_words_and_quoted_phrases() -> None:
    query = read_query('price "too expensive" Price')
    assert query is not None
    assert query.phrases == (("price",), ("too", "expensive"))
    assert query.occurs_in(words_of("That is too expensive!"))
    assert not query.occurs_in(words_of("Expensive, too"))


@pytest.mark.parametrize("text", ["", '""', "?! …"])
def test_a_query_without_a_word_is_none(text: str) -> None:
    assert read_query(text) is None


def test_a_query_has_a_bound() -> None:
    query = read_query(" ".join(f"w{number}" for number in range(100)))
    assert query is not None
    assert len(query.phrases) == MAX_QUERY_WORDS
