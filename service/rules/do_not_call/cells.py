"""What stands in a cell of a do-not-call list: numbers, a reason, an end, yes or no.

The number wins: whatever else of a row cannot be read, its person asked not to be called.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import get_args

from pydantic import TypeAdapter, ValidationError

from callwright.contract.checks.names import LONGEST_NOTE
from callwright.contract.checks.visible import cleaned
from callwright.contract.checks.yes_and_no import NO, YES
from callwright.contract.declaration.field_types import Timestamp
from callwright.contract.do_not_call import Note, Reason
from callwright.list_files.headings import known_headings, plain_heading
from callwright.list_files.number_texts import plainly_written
from callwright.service.platform.clock.clock import milliseconds
from callwright.service.platform.phone import Dialable, Undialable, read_number, redacted

OTHER = "other"
"""The reason of an entry whose own one is none of the known ones."""
_LONGEST_REASON = 100
"""Characters of an unknown reason that are kept."""
_NOTE: TypeAdapter[str] = TypeAdapter(Note)
_MOMENT: TypeAdapter[datetime] = TypeAdapter(Timestamp)
_REASONS = {plain_heading(reason): reason for reason in get_args(Reason)} | {
    word: reason
    for reason, words in {
        "opted_out": "opt out|optout|opt-out|optedout|unsubscribed|abgemeldet|désinscrit",
        "requested": "request|customer request|do not contact|widerspruch|werbewiderspruch|kundenwunsch|opposition",
        "regulator": "national list|national dnc|federal dnc|national registry|tps|ctps|robinson|robinsonliste|bloctel",
        "litigator": "litigation|lawsuit|attorney|anwalt|klage|avocat|abogado",
        "deceased": "dead|died|death|verstorben|gestorben|tot|décédé|décédée|fallecido|fallecida|difunto|deceduto|"
        "deceduta|falecido|falecida|overleden|zmarły|zmarła",
        "wrong_number": "wrong no|wrong nr|not in service|falsche nummer|falsche rufnummer|mauvais numéro|"
        "número equivocado|numero sbagliato|verkeerd nummer",
    }.items()
    for word in known_headings(words)
}
_YES = known_headings(*YES, "x|prawda|tak|sand|истина|да")
_NO = known_headings(*NO, "fałsz|nie|falsk|ложь|нет")
"""A file of a list may be in further languages, and mark its rows with an x."""
_DAY_AND_TIME = re.compile(
    r"(?:(?P<year>\d{4})-(?P<month>\d{1,2})-(?P<day>\d{1,2})|(?P<day_1>\d{1,2})\.(?P<month_1>\d{1,2})\.(?P<year_1>\d{4}))"
    r"(?:(?:T|,?\s+)(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2}))?)?"
)
_CLOCK = ("hour", "minute", "second")
_LAST_SECOND = (23, 59, 59)
_OF_AN_INSTANT = re.compile(r"\d{4}-")
_EXTENSION = re.compile(
    r"(?<=[\d\s).,;-])(?:extension|extn|ext|x|доб|int|anexo|durchwahl|dw|app|poste)\.?\s*:?\s*=?\s*\d{1,7}(?!\d)",
    re.IGNORECASE,
)
_REMARK = re.compile(
    r"[(\[{][^()\[\]{}]*[^\W\d_][^()\[\]{}]*[)\]}]|[^\W\d_]+[.:]?|\d{1,2}\.\d{1,2}\.\d{2,4}|\d{4}-\d\d-\d\d"
)
"""Words, brackets with words in them, and dates: no part of a number, and what is on both sides is not one number."""
_BETWEEN = re.compile(r"[;\n\r|,&]|:::|\s/\s|/\s*(?=\+|00)|\s+(?=\+)")
_AROUND = re.compile(r"^[^\d+(]+|[^\d)]+$")
_FEWEST_DIGITS = 7
"""Fewer digits beside a number are a remark."""
_MOST_DIGITS = 15
"""More digits than a number has (E.164) are several numbers, if there is a blank between them."""
_FINAL = ("missing_phone", "spreadsheet_damage")
"""What no reading of parts of a cell can mend."""


def numbers_in(cell: str, country: str | None) -> tuple[list[Dialable], Undialable | None]:
    """The numbers in a cell, each once, and why the cell, or a part of it, is none.

    Extensions and remarks are left out. A further number without a + is of the country of the first one.
    """
    whole = read_number(cell, country)
    if isinstance(whole, Dialable):
        return [whole], None
    if whole.code in _FINAL:
        return [], whole
    found: dict[str, Dialable] = {}
    wrong: Undialable | None = None
    for part in _parts(plainly_written(cell)):
        read = read_number(part, country or next((one.country for one in found.values()), None))
        if isinstance(read, Dialable):
            found.setdefault(read.e164, read)
        else:
            wrong = read
    return list(found.values()), wrong if found else whole


def _parts(cell: str) -> Iterator[str]:
    """The parts of a cell that may be a number each."""
    for part in _BETWEEN.split(_REMARK.sub(";", _EXTENSION.sub(" ", cell))):
        own = part.split() if _digits(part) > _MOST_DIGITS else []
        for one in own if sum(_digits(one) >= _FEWEST_DIGITS for one in own) > 1 else [part]:
            if _digits(one) >= _FEWEST_DIGITS:
                yield _AROUND.sub("", one)


def _digits(text: str) -> int:
    return sum(map(str.isdigit, text))


def reason_of(text: str) -> str | None:
    """The known reason that a text means; None if it means none of them."""
    return _REASONS.get(plain_heading(text))


def end_ms_of(text: str) -> int | None:
    """The end of an entry; None for a text that is no moment.

    A day without a time ends at its end, and a time without an offset is in UTC.
    """
    try:
        if _OF_AN_INSTANT.match(text):
            return milliseconds(_MOMENT.validate_python(text))
    except ValidationError:
        pass  # perhaps it has no offset, or no time
    found = _DAY_AND_TIME.fullmatch(text)
    if found is None:
        return None
    year, month, day = (int(found[name] or found[f"{name}_1"]) for name in ("year", "month", "day"))
    clock = _LAST_SECOND if found["hour"] is None else [int(found[name] or 0) for name in _CLOCK]
    try:
        return milliseconds(_MOMENT.validate_python(datetime(year, month, day, *clock, tzinfo=UTC)))
    except (ValueError, OverflowError):
        return None


def yes_or_no(text: str) -> bool | None:
    """Whether a word means yes, as spreadsheets and people write it in many languages; None if it means neither."""
    word = plain_heading(text)
    return True if word in _YES else False if word in _NO else None


def note_of(text: str, unknown_reason: str = "") -> tuple[str, bool]:
    """The note of an entry with its unknown reason behind it, and whether all of it could be kept.

    Digits that may be a telephone number are hidden in the reason.
    """
    reason = redacted(unknown_reason[:_LONGEST_REASON])
    behind = f"reason: {reason}" if reason else ""
    joined = f"{text}; {behind}" if text and behind else text or behind
    try:
        return _NOTE.validate_python(joined), len(unknown_reason) <= _LONGEST_REASON
    except ValidationError:
        kept, seen = cleaned(text), cleaned(behind)
        room = LONGEST_NOTE - len(seen) - len("; ")
        return f"{kept[:room]}; {seen}" if seen else kept[:LONGEST_NOTE], False
