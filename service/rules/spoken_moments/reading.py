"""When a person wants to be called, read from what they say: "tomorrow at three", "am Freitag um zehn", "in an hour".

English and German are read. What is not understood is no moment: nobody is called at a time that was guessed.
"""

import re
from collections.abc import Iterable, Mapping
from datetime import date
from functools import lru_cache
from typing import cast

from callwright.service.rules.spoken_moments.english import ENGLISH
from callwright.service.rules.spoken_moments.german import GERMAN
from callwright.service.rules.spoken_moments.spoken_moment import ClockTime, HalfOfDay, SpokenMoment
from callwright.service.rules.spoken_moments.words import MomentWords

_LANGUAGES: Mapping[str, MomentWords] = {"de": GERMAN, "en": ENGLISH}
_CACHED_SAYINGS = 4_096
_LONGEST_SAYING = 1_000
"""Characters; what stands further behind is not read."""
_CLAUSE = re.compile(r"[,;!?…](?!\d)|\.(?= \D|$)|\b(?:and|but|so|und|aber|also)\b")
_WORD = re.compile(r"[\w']+")
_Spans = list[tuple[int, int]]
_MOST_S = 14 * 86_400.0
"""A length of time in hours or minutes that is longer was not understood."""


@lru_cache(maxsize=_CACHED_SAYINGS)
def spoken_moment(text: str, language: str) -> SpokenMoment | None:
    """The moment that these words name; None if they name none that is understood.

    Where the words ask for a call, what they say from there on counts first.
    """
    words = _LANGUAGES.get(language)
    if words is None:
        return None
    said = _normal(text, words)
    asked = words.calls.search(said)
    if asked is not None:
        begins = max((clause.end() for clause in _CLAUSE.finditer(said, 0, asked.start())), default=0)
        found = _read(said[begins:], words)
        if found is not None:
            return found[0]
    found = _read(said, words)
    return None if found is None else found[0]


@lru_cache(maxsize=_CACHED_SAYINGS)
def asks_for_call(text: str, language: str) -> bool:
    """Whether these words ask the other side to call at a moment that they name."""
    words = _LANGUAGES.get(language)
    if words is None:
        return False
    said = _normal(text, words)
    is_asked = words.calls.search(said) is not None and words.not_asked.search(said) is None
    return is_asked and spoken_moment(text, language) is not None


@lru_cache(maxsize=_CACHED_SAYINGS)
def names_moment_alone(text: str, language: str) -> bool:
    """Whether these words name a day or a time of day and hardly say anything else: "No, tomorrow at three"."""
    words = _LANGUAGES.get(language)
    if words is None:
        return False
    said = _normal(text, words)
    found = _read(said, words)
    if found is None or found[0].after_s is not None:
        return False
    for start, end in sorted(found[1], reverse=True):
        said = f"{said[:start]} {said[end:]}"
    return all(word in words.fillers for word in _WORD.findall(said))


def _normal(text: str, words: MomentWords) -> str:
    said = " ".join(text[:_LONGEST_SAYING].lower().replace("’", "'").replace("-", " ").split())
    return _numbers(words).sub(lambda found: str(words.numbers[found[0]]), said)


@lru_cache
def _numbers_of(names: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(sorted(names, key=len, reverse=True))})\b")


def _numbers(words: MomentWords) -> re.Pattern[str]:
    return _numbers_of(tuple(words.numbers))


def _read(said: str, words: MomentWords) -> tuple[SpokenMoment, _Spans] | None:
    """The moment, and where its parts stand."""
    said = words.excluded.sub(lambda found: " " * len(found[0]), said)
    length = _length(said, words)
    if length is not None and length[0].after_s is not None:
        return length
    if words.limits.search(said) is not None:
        return None
    spans: _Spans = []
    day = length or _day(said, words)
    if day is not None:
        spans += day[1]
    clock_time = _clock_time(said, words, spans)
    if day is None and clock_time is None:
        return None
    moment = SpokenMoment() if day is None else day[0]
    if moment.days == 0 and clock_time is None:
        return None  # "today" alone says nothing of a time that is still to come
    return SpokenMoment(
        days=moment.days,
        weekday=moment.weekday,
        weeks=moment.weeks,
        month_day=moment.month_day,
        clock_time=clock_time,
    ), spans


def _first(patterns: Iterable[re.Pattern[str]], said: str) -> re.Match[str] | None:
    """The match that begins first, of the first pattern of equals."""
    found = [match for pattern in patterns if (match := pattern.search(said)) is not None]
    return min(found, key=lambda match: match.start(), default=None)


def _length(said: str, words: MomentWords) -> tuple[SpokenMoment, _Spans] | None:
    for pattern, seconds in words.lengths_s.items():
        if (named := pattern.search(said)) is not None:
            return SpokenMoment(after_s=seconds), [named.span()]
    found = _first(words.after, said)
    if found is None:
        return None
    count = words.counts.get(found["n"]) or float(found["n"].replace(",", "."))
    if found.groupdict().get("and_half"):
        count += 0.5
    unit = found["unit"]
    for name, seconds in words.units_s.items():
        if unit.startswith(name):
            after_s = count * seconds
            return (SpokenMoment(after_s=after_s), [found.span()]) if 0 < after_s <= _MOST_S else None
    days = next(days for name, days in words.units_days.items() if unit.startswith(name))
    ahead = round(count * days)
    return (SpokenMoment(days=ahead), [found.span()]) if 0 < ahead <= 365 else None


def _day(said: str, words: MomentWords) -> tuple[SpokenMoment, _Spans] | None:
    """The first day that is named; today only where no other is."""
    dated = _first(words.dates, said)
    if dated is not None and (month_day := _month_day(dated, words)) is not None:
        return SpokenMoment(month_day=month_day), [dated.span()]
    found: list[tuple[int, SpokenMoment, _Spans]] = []
    next_week = words.next_week.search(said)
    if (named := words.weekday.search(said)) is not None:
        name = named["weekday"].replace("sonnabend", "samstag")
        weekday = next(number for number, begin in enumerate(words.weekdays) if name.startswith(begin))
        spans = [named.span(), *([next_week.span()] if next_week else [])]
        found.append((named.start(), SpokenMoment(weekday=weekday, weeks=1 if next_week else 0), spans))
    elif next_week is not None:
        found.append((next_week.start(), SpokenMoment(days=7), [next_week.span()]))
    for pattern, days in words.days.items():
        if (named := pattern.search(said)) is not None:
            at = named.start() if days else len(said)
            found.append((at, SpokenMoment(days=days), [named.span()]))
    if not found and (named := words.next_month.search(said)) is not None:
        return SpokenMoment(days=30), [named.span()]
    return min(found, key=lambda one: one[0])[1:] if found else None


def _month_day(dated: re.Match[str], words: MomentWords) -> tuple[int, int] | None:
    named_day, named_month = dated["day"], dated["month"]
    day = int(words.counts.get(named_day) or re.sub(r"\D", "", named_day))
    month = int(named_month) if named_month.isdigit() else _month(named_month, words)
    try:
        date(2024, month, day)  # a leap year
    except ValueError:
        return None
    return month, day


def _month(name: str, words: MomentWords) -> int:
    named = {"jänner": "januar", "feber": "februar"}.get(name, name)
    return next(number for number, begin in enumerate(words.months, start=1) if named.startswith(begin))


def _clock_time(said: str, words: MomentWords, spans: _Spans) -> ClockTime | None:
    """The first time of day that is named. Its place is added to `spans`."""
    part = next(((match, usual) for pattern, usual in words.parts.items() if (match := pattern.search(said))), None)
    half = None if part is None else part[1][1]
    if part is not None:
        spans.append(part[0].span())
    taken = [span for span in spans if part is None or span != part[0].span()]
    for pattern in words.times:
        for found in pattern.finditer(said):
            if any(start < found.end("h") and found.start("h") < end for start, end in taken):
                continue  # the hour is part of a date
            time = _time_of(found, half)
            if time is not None:
                spans.append(found.span())
                return time
    return None if part is None else ClockTime(part[1][0], half=half)


def _time_of(found: re.Match[str], half: HalfOfDay | None) -> ClockTime | None:
    groups = found.groupdict()
    hour = 1 if groups["h"] == "ein" else int(groups["h"])
    minutes = int(groups.get("m") or groups.get("minutes") or 0)
    minutes += 30 * ("past" in groups) + 15 * ("quarter" in groups) - 15 * ("quarter_to" in groups)
    minutes += int(groups.get("plus") or 0) - int(groups.get("minus") or 0) - 30 * ("half_to" in groups)
    if groups.get("half"):
        half = cast("HalfOfDay", f"{groups['half']}m")
    if not 0 <= hour <= 24 or not -60 < minutes < 60 or (hour == 24 and minutes > 0):
        return None
    named_half = half if 0 < hour <= 12 else None
    total = hour * 60 + minutes
    if total < 60 and hour:
        total += 12 * 60  # a quarter to one
    hour, minute = divmod(total % 1_440, 60)
    if hour == 12 and groups["h"] == "1" and named_half == "pm":
        return ClockTime(12, minute, "pm")
    return ClockTime(hour, minute, named_half)
