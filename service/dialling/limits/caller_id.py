"""Which number a call is made from, and how often each may call within 24 hours."""

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any

from sqlalchemy import BigInteger, Connection, Row, bindparam, func, select

from callwright.service.dialling.limits.number_health import resting
from callwright.service.platform.clock.clock import DAY
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
_LATEST = (
    select(_C.created_at)
    .where(_C.phone_number_id == bindparam("id"), _C.created_at > bindparam("since", type_=BigInteger))
    .order_by(_C.created_at.desc())
    .limit(bindparam("most"))
)


class CallerIds:
    """The numbers of a deployment for one round, with the calls that those near their cap have made."""

    def __init__(
        self,
        numbers: Sequence[Row[Any]],
        made: Mapping[str, Sequence[int]],
        resting: frozenset[str] = frozenset(),
    ) -> None:
        """`made` has when a number called within the last 24 hours; numbers far below their cap are left out.

        Those that are `resting` call only when no other number may.
        """
        self._numbers = numbers
        self._resting = resting
        self._made = {number_id: sorted(times) for number_id, times in made.items()}

    @classmethod
    def read(cls, connection: Connection, numbers: Sequence[Row[Any]], since_ms: int, most: int) -> "CallerIds":
        """The numbers for a round of at most `most` calls, none of which is dialled before `since_ms`."""
        rests = resting(connection, [number.id for number in numbers], since_ms) if len(numbers) > 1 and most else None
        capped = {number.id: number.max_calls_per_day for number in numbers if number.max_calls_per_day is not None}
        if not capped:
            return cls(numbers, {}, rests or frozenset())
        counts = connection.execute(_COUNTS, {"ids": sorted(capped), "since": since_ms - DAY}).all()
        near = {number_id for number_id, cap in capped.items() if cap <= most}
        near |= {number_id for number_id, count in counts if count + most >= capped[number_id]}
        made: dict[str, Sequence[int]] = {}
        for number_id in sorted(near):
            given = {"id": number_id, "since": since_ms - DAY, "most": capped[number_id]}
            made[number_id] = connection.execute(_LATEST, given).scalars().all()
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
            self._made[number.id] = sorted([*self._made[number.id], at_ms])

    def _free_ms(self, number: Row[Any]) -> int:
        made, most = self._made.get(number.id), int(number.max_calls_per_day or 0)
        return 0 if made is None or len(made) < most else made[-most] + DAY


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
