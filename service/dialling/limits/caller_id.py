"""Which number a call is made from, and how often each may call within 24 hours."""

from bisect import insort
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any, Self

from sqlalchemy import BigInteger, Connection, Row, bindparam, func, select

from callwright.service.dialling.limits.number_health import resting
from callwright.service.platform.clock.clock import DAY
from callwright.service.tables import number_hours
from callwright.service.tables.schema import calls

_AREA_LENGTH = 5
"""The length of `+1` and an area code in North America."""
DAILY_CAP = "phone_number.max_calls_per_day"
"""The rule by which a number may not call any more within 24 hours."""
_C = calls.c
_COUNTS = (
    select(_C.phone_number_id, func.count())
    .where(
        _C.phone_number_id.in_(bindparam("ids", expanding=True)), _C.created_at > bindparam("since", type_=BigInteger)
    )
    .group_by(_C.phone_number_id)
)
_DECISIVE = (
    select(_C.created_at)
    .where(_C.phone_number_id == bindparam("id"), _C.created_at > bindparam("since", type_=BigInteger))
    .order_by(_C.created_at)
    .offset(bindparam("first"))
    .limit(bindparam("most"))
)


class CallsOfDay:
    """The calls that a number has made within 24 hours, and those that a round makes, as far as they decide when it may
    call again: of a hundred thousand as few as the round may make.
    """

    def __init__(self, cap: int, count: int, first: int, times: Sequence[int]) -> None:
        """Of `count` calls in the order of their times, `times` has those from number `first` on."""
        self._cap, self._count, self._first = cap, count, first
        self._times = list(times)
        self._has_last = first + len(times) >= count

    @classmethod
    def read(cls, connection: Connection, number_id: str, cap: int, count: int, since_ms: int, most: int) -> Self:
        """For a round of at most `most` calls. The number has made `count` of them since `since_ms`."""
        first = max(count - cap, 0)
        given = {"id": number_id, "since": since_ms, "first": first, "most": most + 1}
        return cls(cap, count, first, connection.execute(_DECISIVE, given).scalars().all())

    @property
    def free_ms(self) -> int:
        """The first moment at which the number may call again: 24 hours after the last call but `cap` - 1."""
        beyond = self._count - self._cap
        return 0 if beyond < 0 else self._times[beyond - self._first] + DAY

    def add(self, at_ms: int) -> None:
        """Counts a call that is to be made."""
        self._count += 1
        if self._has_last or at_ms < self._times[-1]:
            insort(self._times, at_ms)


class CallerIds:
    """The numbers of a deployment for one round, with the calls that those near their cap have made."""

    def __init__(
        self,
        numbers: Sequence[Row[Any]],
        made: Mapping[str, CallsOfDay],
        resting: frozenset[str] = frozenset(),
    ) -> None:
        """Of `made`, numbers far below their cap are left out. Those that are `resting` call only when no other may."""
        self._numbers = numbers
        self._made = made
        self._resting = resting

    @classmethod
    def read(cls, connection: Connection, numbers: Sequence[Row[Any]], since_ms: int, most: int) -> "CallerIds":
        """The numbers for a round of at most `most` calls, none of which is dialled before `since_ms`."""
        rests = resting(connection, [number.id for number in numbers], since_ms) if len(numbers) > 1 and most else None
        capped = {number.id: number.max_calls_per_day for number in numbers if number.max_calls_per_day is not None}
        if not capped:
            return cls(numbers, {}, rests or frozenset())
        at_most = number_hours.most_since(connection, sorted(capped), since_ms - DAY)
        near = [number_id for number_id, cap in sorted(capped.items()) if at_most.get(number_id, 0) + most >= cap]
        found = connection.execute(_COUNTS, {"ids": near, "since": since_ms - DAY}).all() if near else ()
        counts: dict[str, int] = dict.fromkeys(near, 0) | {number_id: count for number_id, count in found}
        made = {
            number_id: CallsOfDay.read(
                connection, number_id, capped[number_id], counts[number_id], since_ms - DAY, most
            )
            for number_id in near
            if counts[number_id] + most >= capped[number_id]
        }
        return cls(numbers, made, rests or frozenset())

    def __bool__(self) -> bool:
        return bool(self._numbers)

    def first_free(self, at_ms: int) -> int:
        """The first moment from `at_ms` on at which one of the numbers may call."""
        return min(max(at_ms, self._free_ms(number)) for number in self._numbers)

    def may_call(self, number: Row[Any], at_ms: int) -> bool:
        """Whether a number may call at a moment."""
        return self._free_ms(number) <= at_ms

    def choose(self, strategy: str, contact: Row[Any], turn: int, at_ms: int) -> Row[Any]:
        """One of the numbers that may call at a moment, of which there is at least one."""
        free: Sequence[Row[Any]] = self._numbers
        if self._made:
            free = [number for number in self._numbers if self._free_ms(number) <= at_ms]
        if self._resting:
            free = [number for number in free if number.id not in self._resting] or free
        return choose(free, strategy, contact, turn)

    def called(self, number: Row[Any], at_ms: int) -> None:
        """Counts a call that is to be made."""
        if number.id in self._made:
            self._made[number.id].add(at_ms)

    def _free_ms(self, number: Row[Any]) -> int:
        made = self._made.get(number.id)
        return 0 if made is None else made.free_ms


def choose(numbers: Sequence[Row[Any]], strategy: str, contact: Row[Any], turn: int) -> Row[Any]:
    """One of the numbers, of which there is at least one. `turn` is how many calls the deployment has made.

    `random` depends only on the contact and the attempt, so that a campaign can be repeated exactly.
    """
    if contact.caller_number_id is not None and strategy == "sticky":
        kept = next((number for number in numbers if number.id == contact.caller_number_id), None)
        if kept is not None:
            return kept
    if strategy == "local_presence":
        near = [n for n in numbers if n.number[:_AREA_LENGTH] == contact.phone[:_AREA_LENGTH]]
        near = near or [n for n in numbers if n.country == contact.country]
        return near[turn % len(near)] if near else numbers[turn % len(numbers)]
    if strategy == "random":
        drawn = blake2b(f"{contact.phone}|{contact.attempts}".encode(), digest_size=8).digest()
        return numbers[int.from_bytes(drawn) % len(numbers)]
    return numbers[turn % len(numbers)]
