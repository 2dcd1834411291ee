"""What is said of a person in the answers that are stored for a day with their idempotency keys.

A repeated request still gets its first answer, and nothing is done twice: only what is about the person is replaced.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, cast

import orjson
from sqlalchemy import ColumnElement, Connection, bindparam, delete, literal_column, or_, select, update

from callwright.contract.people import DELETED_NUMBER
from callwright.service.tables.schema import idempotency_keys

_T = idempotency_keys.c
_PERSONAL: ColumnElement[bool] = literal_column("personal")
"""A literal, so that both databases use the partial index."""
_ABOUT_PEOPLE = frozenset(
    ("sample", "external_id", "contact_name", "variables", "values", "message", "value_redacted", "to", "from")
)
"""The members of answers that hold something about a person who is called."""
_SAMPLE = 60
"""Characters of a cell that an audience shows as the sample of a column."""
_AT_ONCE = 50
"""Texts that one statement looks for."""
_FEWEST = 3
"""Characters of a word that is replaced inside of a text; a shorter one has to be the whole text."""
_CLEAN = (
    update(idempotency_keys)
    .where(_T.org_id == bindparam("b_org"), _T.key_id == bindparam("b_key_id"), _T.key == bindparam("b_key"))
    .values(body=bindparam("b_body"))
)


@dataclass(frozen=True)
class Mentions:
    """How stored answers may mention a person."""

    numbers: Collection[str]
    """In E.164."""
    names: Collection[str]
    cells: Collection[str]
    """Texts of their rows, the own ids among them. Samples of columns have their beginning."""
    audience_ids: Collection[str]


def clean(connection: Connection, org_id: str, mentions: Mentions) -> None:
    """Removes what is about a person from an organization's stored answers.

    A key in which the number stands is removed with its answer. It looks at the keys of one day, and at the answers
    to operations that show something about people.
    """
    digits = sorted(number.removeprefix("+") for number in mentions.numbers)
    named = or_(*(_T.key.contains(each, autoescape=True) for each in digits))
    connection.execute(delete(idempotency_keys).where(_T.org_id == org_id, named))
    names = sorted(name for name in mentions.names if len(name) >= _FEWEST)
    searched = [*digits, *names, *sorted(mentions.audience_ids)]
    whole = {shown for text in (*mentions.cells, *mentions.names) if text for shown in (text, text[:_SAMPLE])}
    words = sorted({*names, *(text for text in whole if len(text) >= _FEWEST)}, key=len, reverse=True)
    replacing = _Replacing(_pattern([*sorted(mentions.numbers), *digits]), _pattern(words), frozenset(whole))
    for begin in range(0, len(searched), _AT_ONCE):
        _clean(connection, org_id, searched[begin : begin + _AT_ONCE], replacing)


def _pattern(words: Sequence[str]) -> re.Pattern[str]:
    return re.compile("|".join(rf"(?<!\w){re.escape(word)}(?!\w)" for word in words) or r"(?!)")


@dataclass(frozen=True)
class _Replacing:
    """Replaces numbers wherever they stand, and words of a person where answers say something about people."""

    numbers: re.Pattern[str]
    words: re.Pattern[str]
    whole: frozenset[str]

    def replaced(self, value: Any, *, about_people: bool = False) -> Any:
        if isinstance(value, str):
            if about_people:
                value = DELETED_NUMBER if value in self.whole else self.words.sub(DELETED_NUMBER, value)
            return self.numbers.sub(DELETED_NUMBER, value)
        if isinstance(value, dict):
            entries = cast("dict[str, Any]", value)
            return {
                name: self.replaced(entry, about_people=about_people or name in _ABOUT_PEOPLE)
                for name, entry in entries.items()
            }
        if isinstance(value, list):
            return [self.replaced(entry, about_people=about_people) for entry in cast("list[Any]", value)]
        return value


def _clean(connection: Connection, org_id: str, searched: Sequence[str], replacing: _Replacing) -> None:
    written = [orjson.dumps(each).decode()[1:-1] for each in searched]
    has_one = or_(*(_T.body.contains(each, autoescape=True) for each in written))
    found = connection.execute(
        select(_T.key_id, _T.key, _T.body).where(_T.org_id == org_id, _PERSONAL, _T.body.is_not(None), has_one)
    ).all()
    changed: list[dict[str, Any]] = []
    for row in found:
        body = orjson.dumps(replacing.replaced(orjson.loads(row.body))).decode()
        changed.append({"b_org": org_id, "b_key_id": row.key_id, "b_key": row.key, "b_body": body})
    if changed:
        connection.execute(_CLEAN, changed)
