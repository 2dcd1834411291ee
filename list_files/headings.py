"""The names of columns, compared whatever their case, accents, blanks and marks."""

import unicodedata
from functools import lru_cache


@lru_cache(maxsize=4_096)
def plain_heading(name: str) -> str:
    """A name without case, accents and what is between its words."""
    parts = unicodedata.normalize("NFKD", name.casefold())
    letters = "".join(char for char in parts if not unicodedata.combining(char))
    kept = (char if unicodedata.category(char)[0] in "LNM" else " " for char in unicodedata.normalize("NFC", letters))
    return " ".join("".join(kept).split())


def known_headings(*lists: str) -> frozenset[str]:
    """Headings in their plain form, from texts in which bars stand between them."""
    return frozenset(plain_heading(heading) for listed in lists for heading in listed.split("|"))
