"""Which columns of a list say where a person is, by their names: the time zone, and the state or province."""

from collections.abc import Iterable
from functools import lru_cache

from callwright.list_files.headings import known_headings, plain_heading
from callwright.list_files.phone_columns import MAX_COLUMN_NAME

_TIME_ZONE = known_headings(
    "timezone|time zone|tz|zeitzone|fuseau horaire|zona horaria|huso horario|fuso orario|fuso horario|tijdzone|समय क्षेत्र"
)
_STATES = (
    "state|us state|state us|state code|province|province code|state province|province state|bundesland|provinz|etat",
    "mailing state|mailing state province|mailing province|home state|home state province",
    "address state|address state province|billing state|billing state province|billing province",
    "shipping state|shipping state province",
)
_ORDER = {heading: rank for rank, listed in enumerate(_STATES) for heading in known_headings(listed)}


def timezone_column_among(columns: Iterable[str]) -> str | None:
    """The column that is named for time zones, in one of many languages; None if there is none."""
    there = (column for column in columns if len(column) <= MAX_COLUMN_NAME)
    return next((column for column in there if plain_heading(column) in _TIME_ZONE), None)


@lru_cache(maxsize=1_024)
def state_columns_among(columns: tuple[str, ...]) -> tuple[str, ...]:
    """The columns that are named for states or provinces: first those of the person, then those of addresses."""
    ranks = {column: rank for column in columns if (rank := _ORDER.get(plain_heading(column))) is not None}
    return tuple(sorted(ranks, key=ranks.__getitem__))
