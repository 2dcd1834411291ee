"""How what is searched for is said to each engine."""

from callwright.service.platform.database.postgres.full_text import tsquery
from callwright.service.platform.database.sqlite.full_text import fts5

PHRASES = (("price",), ("too", "expensive"))


def test_every_phrase_has_to_stand_in_the_words() -> None:
    assert fts5(PHRASES) == '"price" AND "too expensive"'
    assert tsquery(PHRASES) == "(price) & (too <-> expensive)"
