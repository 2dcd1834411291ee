"""The words of transcripts as the index has them, for tests that compare or count them."""

from typing import NamedTuple

from sqlalchemy import Connection, delete, select, text

from callwright.service.tables.schema import transcript_words


class Indexed(NamedTuple):
    """What is indexed of a call. Postgres has neither marks nor places."""

    call_id: str
    words: str
    marks: str = ""
    place: int = 0
    checksum: int = 0


def indexed(connection: Connection) -> list[Indexed]:
    """What the index has, by the ids of the calls."""
    if connection.dialect.name != "sqlite":
        words = select(transcript_words.c.call_id, transcript_words.c.words)
        return sorted(Indexed(*row) for row in connection.execute(words))
    connection.execute(text("CREATE VIRTUAL TABLE temp.all_terms USING fts5vocab(main, transcript_words, instance)"))
    terms = connection.execute(text("SELECT doc, col, term FROM temp.all_terms ORDER BY doc, col, offset")).all()
    connection.execute(text("DROP TABLE temp.all_terms"))
    texts: dict[tuple[int, str], list[str]] = {}
    for doc, column, term in terms:
        texts.setdefault((doc, column), []).append(term)
    calls = connection.execute(text("SELECT call_id, place, checksum FROM transcript_words_places")).all()
    assert {row.place for row in calls} == {doc for doc, _ in texts}

    def text_of(place: int, column: str) -> str:
        return " ".join(texts.get((place, column), ()))

    return sorted(
        Indexed(row.call_id, text_of(row.place, "words"), text_of(row.place, "marks"), row.place, row.checksum)
        for row in calls
    )


def empty(connection: Connection) -> None:
    """Takes everything out of the index."""
    if connection.dialect.name != "sqlite":
        connection.execute(delete(transcript_words))
        return
    connection.execute(text("INSERT INTO transcript_words (transcript_words) VALUES ('delete-all')"))
    connection.execute(text("DELETE FROM transcript_words_places"))


NAME_INDEXES = ("audience_names", "call_names")
"""The full-text tables of names on SQLite."""


def indexed_terms(connection: Connection, index: str) -> list[str]:
    """The words that an index of names has, each after the mark of its owner."""
    connection.execute(text(f"CREATE VIRTUAL TABLE temp.name_terms USING fts5vocab(main, {index}, row)"))
    terms = connection.execute(text("SELECT term FROM temp.name_terms WHERE doc > 0")).scalars().all()
    connection.execute(text("DROP TABLE temp.name_terms"))
    return list(terms)
