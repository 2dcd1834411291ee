"""Consent to be called, from the column of the audience that a campaign names for it."""

import re
from collections.abc import Iterable
from typing import Any
from unicodedata import normalize

from sqlalchemy import ColumnElement, Connection, Row, Select, func, select

from callwright.contract.checks.counts import count_of
from callwright.contract.deployments.dialling import CONSENT_GIVEN, CONSENT_REFUSED, CONSENT_WORDS
from callwright.service.platform.database.columns import cell
from callwright.service.platform.phone import redacted
from callwright.service.tables.campaign_settings import settings_of
from callwright.service.tables.schema import audience_rows

_R = audience_rows.c
_MOST_KINDS = 3
_SHORT_WORD = re.compile(r"[^\W\d_]{1,10}")


def consent_column(row: Row[Any]) -> str | None:
    """The column with the consent; None if the campaign needs none."""
    return settings_of(row).compliance.consent_column


def advice_on_answers(connection: Connection, row: Row[Any], *, nobody_left: bool) -> list[str]:
    """A warning of people whose consent column says neither yes nor no, or that nobody says yes, with what counts.

    `nobody_left`: nobody of the campaign would be called. It quotes the column only if that has a few short words,
    which say nothing about a person.
    """
    column = consent_column(row)
    answer = answer_of(column)
    if column is None or answer is None:
        return []
    value = answer.label("value")
    own = select(value).where(_R.audience_id == row.audience_id)
    unclear = own.where(value != "", value.not_in((*GIVEN_AS_READ, *_REFUSED_AS_READ)))
    count = connection.execute(select(func.count()).select_from(unclear.subquery())).scalar_one()
    if nobody_left and connection.execute(own.where(value.in_(GIVEN_AS_READ)).limit(1)).first() is None:
        said = f"nobody's consent column says yes: {redacted(column)!r}{_kinds(connection, own, value)}"
    elif count:
        who = f"{count_of(count, 'person', 'people')} will not be called, whose consent column says neither yes nor no"
        said = f"{who}: {redacted(column)!r}{_kinds(connection, unclear, value)}"
    else:
        return []
    return [f"{said}; words that count: {CONSENT_WORDS}"]


def _kinds(connection: Connection, own: Select[*tuple[Any, ...]], value: ColumnElement[str]) -> str:
    kinds = list(connection.execute(own.where(value != "").distinct().order_by(value).limit(_MOST_KINDS + 1)).scalars())
    if not kinds:
        return " is empty"
    short = len(kinds) <= _MOST_KINDS and all(_SHORT_WORD.fullmatch(kind) for kind in kinds)
    return f" says {' or '.join(kinds)}" if short else " says other things"


def _as_read(words: Iterable[str]) -> tuple[str, ...]:
    """The words as `lower` of a database gives them: that of SQLite leaves `SÍ` its accented capital."""
    written = [normalize(form, word) for word in words for form in ("NFC", "NFD")]
    return tuple(dict.fromkeys(form for word in written for form in (word, _ascii_lower(word.upper()))))


def _ascii_lower(text: str) -> str:
    return "".join(letter.lower() if letter.isascii() else letter for letter in text)


GIVEN_AS_READ = _as_read(CONSENT_GIVEN)
"""What `answer_of` gives of people who said yes."""
_REFUSED_AS_READ = _as_read(CONSENT_REFUSED)


def answer_of(column: str | None) -> ColumnElement[str] | None:
    """An expression: the consent column of an audience row, in lower case; None if the campaign needs none."""
    return None if column is None else func.lower(func.coalesce(cell(_R.cells, column), ""))
