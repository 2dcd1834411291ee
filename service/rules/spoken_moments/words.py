"""What the words of one language say of a moment."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from callwright.service.rules.spoken_moments.spoken_moment import HalfOfDay


@dataclass(frozen=True)
class MomentWords:
    """The expressions of one language. All are searched in lower case, with number words written as digits.

    Groups by name: `n` a number or a word for one, `h` the hour, `m` minutes, `day` and `month` of a date, `weekday`,
    `part` of the day, `half` of the day.
    """

    numbers: Mapping[str, int]
    """Number words that become digits wherever they stand."""
    counts: Mapping[str, float]
    """Words for `n` that are numbers only in a length of time, as "an hour"."""
    units_s: Mapping[str, float]
    """Beginnings of units that name a length of time within the day, in seconds."""
    units_days: Mapping[str, int]
    """Beginnings of units of whole days."""
    after: tuple[re.Pattern[str], ...]
    """A length of time from now on: `n` and `unit`, perhaps `and_half`."""
    lengths_s: Mapping[re.Pattern[str], float]
    """Lengths of time with a name of their own."""
    days: Mapping[re.Pattern[str], int]
    """Words for a day, as days ahead."""
    weekdays: tuple[str, ...]
    """Beginnings of the names, Monday first."""
    weekday: re.Pattern[str]
    next_week: re.Pattern[str]
    next_month: re.Pattern[str]
    months: tuple[str, ...]
    """Beginnings of the names, January first."""
    dates: tuple[re.Pattern[str], ...]
    times: tuple[re.Pattern[str], ...]
    """Times of day: `h`, perhaps `m`; `past`, `to` and `before` are minutes that are added or taken away."""
    parts: Mapping[re.Pattern[str], tuple[int, HalfOfDay]]
    """Parts of the day: the hour at which somebody is called who names no other, and the half of the day."""
    excluded: re.Pattern[str]
    """What is named in order not to be meant."""
    limits: re.Pattern[str]
    """A time before which the person wants to be called: no moment follows from it."""
    calls: re.Pattern[str]
    """What asks the other side to call."""
    not_asked: re.Pattern[str]
    """What makes no wish of that: the person calls, or it is asked why somebody called."""
    fillers: frozenset[str]
    """Words beside a moment that say nothing more."""


def listed(words: str) -> tuple[str, ...]:
    """Words that are written one after the other."""
    return tuple(words.split())
