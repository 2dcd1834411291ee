"""Words for searching, the same on both databases.

Text is decomposed (NFKD), stripped of Latin accents, case-folded, and split into words of letters, marks and digits.
Words outside ASCII are written in hexadecimal, because databases disagree about word boundaries in other scripts.
"""

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

_ASCII_WORD = re.compile(r"[a-z0-9]+")
_LATIN_MARKS = ("̀", "ͯ")
MAX_QUERY_WORDS = 20
_QUOTED = re.compile(r'"([^"]*)"|(\S+)')


@lru_cache(maxsize=20_000)
def _folded(word: str) -> str:
    """A word as it is indexed: plain ASCII, or `x` and its UTF-8 bytes in hexadecimal."""
    return word if word.isascii() else "x" + word.encode().hex()


def _stripped(text: str) -> str:
    low, high = _LATIN_MARKS
    # Twice: a styled capital becomes a plain one only when it is decomposed, and folding can compose again.
    folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    return "".join(character for character in folded if not low <= character <= high)


def words_of(text: str) -> list[str]:
    """The words of a text as they are indexed, in their order."""
    return [_folded(word) for word in _plain_words(text)]


def stored_words(text: str) -> list[str]:
    """The words as a column holds them: the beginning of one begins what is stored, and nothing of another script."""
    return [word if word.isascii() else f"={word.encode().hex()}" for word in _plain_words(text)]


def _plain_words(text: str) -> list[str]:
    if text.isascii():
        return _ASCII_WORD.findall(text.lower())
    found: list[str] = []
    word: list[str] = []
    for character in _stripped(text):
        if unicodedata.category(character)[0] in "LMN":
            word.append(character)
        elif word:
            found.append("".join(word))
            word.clear()
    if word:
        found.append("".join(word))
    return found


def word_column(text: str | None) -> str | None:
    """The words of a text as a column holds them that is searched for words; None for no text."""
    return None if text is None else "".join(f" {word}" for word in stored_words(text))


@dataclass(frozen=True)
class Query:
    """A search: every phrase must occur. A single word is a phrase of one word."""

    phrases: tuple[tuple[str, ...], ...]

    def occurs_in(self, words: list[str]) -> bool:
        """Whether any of the phrases occurs in the words, so that the text is shown as a snippet."""
        return any(
            words[index : index + len(phrase)] == list(phrase)
            for phrase in self.phrases
            for index in range(len(words) - len(phrase) + 1)
        )


def read_query(text: str) -> Query | None:
    """Words that must all occur, and phrases in double quotes; `None` when nothing searchable is left."""
    phrases: list[tuple[str, ...]] = []
    for quoted, bare in _QUOTED.findall(text):
        words = words_of(quoted or bare)
        if quoted:
            phrases.extend([tuple(words)] if words else [])
        else:
            phrases.extend((word,) for word in words)
    kept = tuple(dict.fromkeys(phrases))[:MAX_QUERY_WORDS]
    return Query(kept) if kept else None
