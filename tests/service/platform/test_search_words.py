"""Words for searching."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.service.platform.search_words import MAX_QUERY_WORDS, read_query, stored_words, word_column, words_of


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


@given(st.text(), st.text(min_size=1))
def test_the_beginning_of_a_stored_word_begins_it_and_no_word_of_another_script_does(text: str, other: str) -> None:
    for word in stored_words(text):
        assert word.removeprefix("=").isalnum()
        assert word.isascii()
    for word, plain in zip(stored_words(other), words_of(other), strict=True):
        assert word == plain or word == f"={plain.removeprefix('x')}"


def test_a_column_of_words_has_each_after_a_space() -> None:
    assert word_column("José  O'Neil") == " jose o neil"
    assert word_column("—") == ""
    assert word_column(None) is None
    assert word_column("Мария") == f" ={'мария'.encode().hex()}"


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
