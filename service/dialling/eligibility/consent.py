"""Consent to be called, from the column of the audience that a campaign names for it."""

import re
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, func, select

from callwright.contract.deployments.dialling import CONSENT_GIVEN, CONSENT_WORDS
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


def nobody_consents(connection: Connection, row: Row[Any]) -> str | None:
    """A warning that nobody of the audience consents, with the words that count as consent; None if somebody does.

    It quotes the column only if that has a few short words, which say nothing about a person.
    """
    column = consent_column(row)
    answer = answer_of(column)
    if column is None or answer is None:
        return None
    value = answer.label("value")
    own = select(value).where(_R.audience_id == row.audience_id)
    if connection.execute(own.where(value.in_(CONSENT_GIVEN)).limit(1)).first() is not None:
        return None
    kinds = list(connection.execute(own.where(value != "").distinct().order_by(value).limit(_MOST_KINDS + 1)).scalars())
    if not kinds:
        said = " is empty"
    elif len(kinds) <= _MOST_KINDS and all(_SHORT_WORD.fullmatch(kind) for kind in kinds):
        said = f" says {' or '.join(kinds)}"
    else:
        said = " says other things"
    return f"nobody's consent column says yes: {redacted(column)!r}{said}; words that count: {CONSENT_WORDS}"


def answer_of(column: str | None) -> ColumnElement[str] | None:
    """An expression: the consent column of an audience row, in lower case; None if the campaign needs none."""
    return None if column is None else func.lower(func.coalesce(cell(_R.cells, column), ""))
