"""Consent to be called, from the column of the audience that a campaign names for it.

Where a campaign states that everybody agreed, the no of a person in a column that is named for consent wins over that.
The no of another row of the same person wins over the yes of the row that is called.
"""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from unicodedata import normalize

from sqlalchemy import ColumnElement, Connection, Row, Select, bindparam, func, or_, select

from callwright.contract.checks.counts import count_of
from callwright.contract.deployments.dialling import CONSENT_GIVEN, CONSENT_REFUSED, CONSENT_WORDS
from callwright.list_files.consent_columns import consent_columns_among
from callwright.service.platform.database.columns import cell
from callwright.service.platform.phone import redacted
from callwright.service.tables.campaign_settings import settings_of
from callwright.service.tables.schema import audience_rows, audiences

_R = audience_rows.c
_COLUMNS = select(audiences.c.columns).where(audiences.c.id == bindparam("id"))
_MOST_KINDS = 3
_SHORT_WORD = re.compile(r"[^\W\d_]{1,10}")


@dataclass(frozen=True)
class ConsentColumns:
    """Which columns of an audience a campaign asks before a call.

    Without a yes in `needed` nobody is called, and nobody with a clear no in one of `respected`.
    """

    needed: str | None = None
    respected: tuple[str, ...] = ()

    def forbid(self) -> ColumnElement[bool] | None:
        """An expression: whether the cells of an audience row forbid a call; None if the campaign asks no column."""
        if self.needed is not None:
            return answer_of(self.needed).not_in(_GIVEN_AS_READ)
        noes = [answer_of(column).in_(_REFUSED_AS_READ) for column in self.respected]
        return or_(*noes) if noes else None


def consent_column(row: Row[Any]) -> str | None:
    """The column with the consent; None if the campaign names none."""
    return settings_of(row).compliance.consent_column


def consent_columns(connection: Connection, row: Row[Any]) -> ConsentColumns:
    """The columns that a campaign asks: its consent column, or where consent is attested those named for consent."""
    compliance = settings_of(row).compliance
    if compliance.consent_column is not None:
        return ConsentColumns(needed=compliance.consent_column)
    if not compliance.consent_attested:
        return ConsentColumns()
    return ConsentColumns(respected=_named_for_consent(connection, row))


def _named_for_consent(connection: Connection, row: Row[Any]) -> tuple[str, ...]:
    """The columns of the audience that are named for consent."""
    columns: str = connection.execute(_COLUMNS, {"id": row.audience_id}).scalar_one()
    return consent_columns_among(tuple(one["name"] for one in json.loads(columns)))


def advice_on_unasked_columns(connection: Connection, row: Row[Any]) -> list[str]:
    """A warning of people who say no in columns that are named for consent, where the campaign asks no column at all
    and would call them."""
    if consent_columns(connection, row) != ConsentColumns():
        return []
    unasked = _named_for_consent(connection, row)
    forbids = ConsentColumns(respected=unasked).forbid()
    if forbids is None:
        return []
    count = _count(connection, select(_R.id).where(_R.audience_id == row.audience_id, forbids))
    if not count:
        return []
    who = f"{count_of(count, 'person', 'people')} {'says' if count == 1 else 'say'} no in the column {_quoted(unasked)}"
    return [f"{who}, which is not asked: with compliance.consent_column only people who say yes there are called"]


def advice_on_answers(connection: Connection, row: Row[Any], *, nobody_left: bool) -> list[str]:
    """Warnings of people whose no another row says or wins over an attested consent, of those whose consent column says
    neither yes nor no, and that nobody says yes.

    `nobody_left`: nobody of the campaign would be called. A column is quoted only if it has a few short words, which
    say nothing about a person.
    """
    asked = consent_columns(connection, row)
    if asked.needed is not None:
        return [
            *_declined(connection, row, asked.needed),
            *_advice_on(connection, row, asked.needed, nobody_left=nobody_left),
        ]
    forbids = asked.forbid()
    if forbids is None:
        return []
    count = _count(connection, select(_R.id).where(_R.audience_id == row.audience_id, forbids))
    if not count:
        return []
    who = f"{count_of(count, 'person', 'people')} will not be called although consent is attested"
    return [f"{who}: the list says no in the column {_quoted(asked.respected)}"]


def _quoted(columns: Sequence[str]) -> str:
    return ", ".join(repr(redacted(column)) for column in columns[:_MOST_KINDS])


def _declined(connection: Connection, row: Row[Any], column: str) -> list[str]:
    """A warning of people of whom another row than the one with their yes says no."""
    yes = func.lower(func.coalesce(cell(_R.cells, column), "")).in_(_GIVEN_AS_READ)
    others = select(_R.id).where(_R.audience_id == row.audience_id, cell(_R.declined, column).is_not(None), yes)
    count = _count(connection, others)
    who = f"{count_of(count, 'person', 'people')} will not be called, of whom another row of the list says no"
    return [f"{who}: {redacted(column)!r}"] if count else []


def _advice_on(connection: Connection, row: Row[Any], column: str, *, nobody_left: bool) -> list[str]:
    value = answer_of(column).label("value")
    own = select(value).where(_R.audience_id == row.audience_id)
    unclear = own.where(value != "", value.not_in((*_GIVEN_AS_READ, *_REFUSED_AS_READ)))
    count = _count(connection, unclear)
    if nobody_left and connection.execute(own.where(value.in_(_GIVEN_AS_READ)).limit(1)).first() is None:
        said = f"nobody's consent column says yes: {redacted(column)!r}{_kinds(connection, own, value)}"
    elif count:
        who = f"{count_of(count, 'person', 'people')} will not be called, whose consent column says neither yes nor no"
        said = f"{who}: {redacted(column)!r}{_kinds(connection, unclear, value)}"
    else:
        return []
    return [f"{said}; words that count: {CONSENT_WORDS}"]


def _count(connection: Connection, rows: Select[*tuple[Any, ...]]) -> int:
    return connection.execute(select(func.count()).select_from(rows.subquery())).scalar_one()


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


_GIVEN_AS_READ = _as_read(CONSENT_GIVEN)
"""What `answer_of` gives of people who said yes."""
_REFUSED_AS_READ = _as_read(CONSENT_REFUSED)


def answer_of(column: str) -> ColumnElement[str]:
    """An expression: a column of an audience row, in lower case; the no of another row of the person comes first."""
    return func.lower(func.coalesce(cell(_R.declined, column), cell(_R.cells, column), ""))
