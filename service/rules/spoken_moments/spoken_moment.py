"""A moment as a person names it on the telephone: "tomorrow at three", without the day on which it was said."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Literal

HalfOfDay = Literal["am", "pm"]
_AFTERNOON_BEFORE = 8
"""Somebody who asks to be called at an hour before eight, and says no more, means the afternoon or the evening."""
_LATE = 10
"""Nobody means an hour in the evening from ten on without saying so."""
_YEARS_AHEAD = 9
"""In which even the 29th of February comes."""


@dataclass(frozen=True)
class ClockTime:
    """A time of day. `half` is which half of the day it is in; None: nobody said so, of an hour up to twelve."""

    hour: int
    minute: int = 0
    half: HalfOfDay | None = None

    def times(self, *, is_today: bool) -> tuple[time, ...]:
        """What it may mean, the most likely first. Today "at nine" may be in the evening."""
        if self.hour > 12 or self.hour == 0:
            return (time(self.hour, self.minute),)
        morning, evening = time(self.hour % 12, self.minute), time(self.hour % 12 + 12, self.minute)
        if self.half is not None:
            return (morning,) if self.half == "am" else (evening,)
        if self.hour == 12 or self.hour < _AFTERNOON_BEFORE:
            return (evening,)
        return (morning, evening) if is_today and self.hour < _LATE else (morning,)


@dataclass(frozen=True)
class SpokenMoment:
    """A moment as it was named. Without a day it is the next one at that time, without a time that of the call."""

    after_s: float | None = None
    """Seconds from now on; nothing else is set then."""
    days: int | None = None
    """Days ahead; 0 is today."""
    weekday: int | None = None
    """0 is Monday."""
    weeks: int = 0
    """Weeks ahead in which the weekday lies; 0: the next day of that name."""
    month_day: tuple[int, int] | None = None
    clock_time: ClockTime | None = None

    def at(self, said: datetime) -> datetime:
        """The moment in UTC, always after `said`, which has the time zone of the person.

        A time of today that has passed is that of tomorrow.
        """
        if self.after_s is not None:
            return said.astimezone(UTC) + timedelta(seconds=self.after_s)
        times = (said.time(),) if self.clock_time is None else self.clock_time.times(is_today=self.days == 0)
        moments = (datetime.combine(day, one, said.tzinfo) for day in self._days_from(said.date()) for one in times)
        return next(moment for moment in moments if moment > said).astimezone(UTC)

    def _days_from(self, today: date) -> Iterator[date]:
        """The days that it may mean, in order."""
        if self.month_day is not None:
            month, day = self.month_day
            for year in range(today.year, today.year + _YEARS_AHEAD):
                if (month, day) != (2, 29) or _is_leap(year):
                    yield date(year, month, day)
            return
        first = today + timedelta(days=self._days_ahead(today))
        yield first
        yield first + timedelta(days=1 if self.weekday is None else 7)

    def _days_ahead(self, today: date) -> int:
        if self.weekday is None:
            return self.days or 0
        if self.weeks:
            return 7 * self.weeks + self.weekday - today.weekday()
        return (self.weekday - today.weekday()) % 7 or 7


def _is_leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
