"""Properties of a round of calls: channels, pace, order, hours, the end."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from callwright.contract.deployments.dialling import WEEKDAYS, CallingHours, Window
from callwright.service.dialling.eligibility.gate import Candidate, Deferred, Never, NeverReason
from callwright.service.dialling.schedule import DialPace, Planned, Schedule, schedule_round
from callwright.service.platform.clock.clock import DAY, HOUR, MINUTE, milliseconds
from tests.support.open_hours import hours_in

MONDAY_MS = milliseconds(datetime(2026, 6, 1, 12, 0, tzinfo=UTC))
ZONES = ("UTC", "America/New_York", "Asia/Kolkata", "Pacific/Auckland")
OFFICE = CallingHours(windows=[Window(days=["mon", "tue", "wed", "thu", "fri"], start="09:00", end="17:30")])


@dataclass(frozen=True)
class Situation:
    """A round: the contacts in their order with how long their calls last, and what the deployment allows."""

    candidates: tuple[Candidate, ...]
    lasts_ms: dict[str, int]
    channel_free_at: tuple[int, ...]
    last_dial_ms: int | None = None
    calls_per_second: float = 1.0
    hours: CallingHours | None = None
    most: int = 1_000
    end_ms: int | None = None

    def schedule(self) -> Schedule:
        return schedule_round(
            self.candidates,
            channel_free_at=self.channel_free_at,
            last_dial_ms=self.last_dial_ms,
            pace=DialPace(self.calls_per_second),
            first_free=lambda at_ms: at_ms,
            lasts_ms=lambda call: self.lasts_ms[call.contact_id],
            most=self.most,
            end_ms=self.end_ms,
        )


def candidate(
    name: str, due_ms: int, zones: tuple[str, ...], blocked: NeverReason | None = None, *, hours: CallingHours | None
) -> Candidate:
    """A person in these zones."""
    return Candidate(name, "+12025550100", due_ms, hours_in(zones, hours), blocked)


@st.composite
def situations(draw: st.DrawFn) -> Situation:
    hours = draw(st.sampled_from([None, OFFICE]))
    dues = sorted(draw(st.lists(st.integers(-2 * HOUR, 3 * DAY), max_size=40)))
    candidates = tuple(
        candidate(
            f"contact {index}",
            MONDAY_MS + due,
            tuple(draw(st.sets(st.sampled_from(ZONES), min_size=1, max_size=2))),
            hours=hours,
        )
        for index, due in enumerate(dues)
    )
    return Situation(
        candidates,
        {candidate.contact_id: draw(st.integers(0, 10 * MINUTE)) for candidate in candidates},
        tuple(draw(st.lists(st.integers(MONDAY_MS - HOUR, MONDAY_MS + HOUR), min_size=1, max_size=6))),
        draw(st.none() | st.integers(MONDAY_MS - HOUR, MONDAY_MS + HOUR)),
        draw(st.sampled_from([0.1, 0.3, 1.0, 7.0, 100.0])),
        hours,
        draw(st.integers(0, 40)),
        draw(st.none() | st.integers(MONDAY_MS, MONDAY_MS + 4 * DAY)),
    )


def most_at_once(schedule: Schedule, lasts_ms: dict[str, int], channel_free_at: Sequence[int]) -> int:
    """Most calls at one moment; a line that is not free yet is a call that began before the round."""
    first = min((call.dial_ms for call in schedule.calls), default=0)
    edges = [(free, -1) for free in channel_free_at if free > first] + [
        (first, 1) for free in channel_free_at if free > first
    ]
    for call in schedule.calls:
        edges += [(call.dial_ms, 1), (call.dial_ms + lasts_ms[call.contact_id], -1)]
    running = most = 0
    for _, step in sorted(edges):
        running += step
        most = max(most, running)
    return most


@given(situations())
def test_there_are_never_more_calls_at_once_than_lines(situation: Situation) -> None:
    assert most_at_once(situation.schedule(), situation.lasts_ms, situation.channel_free_at) <= len(
        situation.channel_free_at
    )


@given(situations())
def test_dials_are_apart_by_the_pace_from_the_last_call_before_the_round_on(situation: Situation) -> None:
    schedule = situation.schedule()
    moments = [call.dial_ms for call in schedule.calls]
    if situation.last_dial_ms is not None:
        moments.insert(0, situation.last_dial_ms)
    assert all(after - before >= 1_000 / situation.calls_per_second for before, after in pairwise(moments))
    assert schedule.last_dial_ms == (moments[-1] if moments else None)


@given(situations())
def test_the_order_is_kept_and_nobody_is_called_before_they_are_due(situation: Situation) -> None:
    schedule = situation.schedule()
    position = {candidate.contact_id: index for index, candidate in enumerate(situation.candidates)}
    due = {candidate.contact_id: candidate.due_ms for candidate in situation.candidates}
    called = [position[call.contact_id] for call in schedule.calls]
    assert called == sorted(called)
    assert all(call.dial_ms >= due[call.contact_id] for call in schedule.calls)


@given(situations())
def test_every_contact_up_to_the_last_one_planned_is_called_put_off_or_given_up(situation: Situation) -> None:
    schedule = situation.schedule()
    handled = (
        [call.contact_id for call in schedule.calls]
        + [name for name, _ in schedule.deferred]
        + [name for name, _ in schedule.never]
    )
    assert len(handled) == len(set(handled))
    assert set(handled) == {candidate.contact_id for candidate in situation.candidates[: len(handled)]}
    assert len(schedule.calls) <= situation.most


@given(situations())
def test_nothing_is_dialled_at_or_after_the_end(situation: Situation) -> None:
    if situation.end_ms is not None:
        assert all(call.dial_ms < situation.end_ms for call in situation.schedule().calls)


@given(situations())
def test_every_call_is_within_the_hours_of_every_zone_of_the_contact(situation: Situation) -> None:
    zones = {candidate.contact_id: candidate.hours.place.zones for candidate in situation.candidates}
    if situation.hours is not None:
        for call in situation.schedule().calls:
            assert all(in_office_hours(call.dial_ms, zone) for zone in zones[call.contact_id])


@given(situations())
def test_whoever_is_put_off_is_put_off_to_a_later_moment_that_is_allowed(situation: Situation) -> None:
    schedule = situation.schedule()
    candidates = {candidate.contact_id: candidate for candidate in situation.candidates}
    for name, later in schedule.deferred:
        assert later.until_ms > max(candidates[name].due_ms, min(situation.channel_free_at))
        assert all(in_office_hours(later.until_ms, zone) for zone in candidates[name].hours.place.zones)


@given(situations())
def test_the_channels_left_are_as_many_as_before_and_none_is_free_earlier(situation: Situation) -> None:
    schedule = situation.schedule()
    assert len(schedule.channel_free_at) == len(situation.channel_free_at)
    assert all(
        after >= before
        for before, after in zip(sorted(situation.channel_free_at), schedule.channel_free_at, strict=True)
    )


def in_office_hours(at_ms: int, zone: str) -> bool:
    local = datetime.fromtimestamp(at_ms / 1_000, ZoneInfo(zone))
    return WEEKDAYS[local.weekday()] in OFFICE.windows[0].days and "09:00" <= local.strftime("%H:%M") < "17:30"


def test_two_zones_whose_hours_never_meet_leave_no_moment() -> None:
    hours = CallingHours(windows=[Window(days=["mon"], start="09:00", end="09:30")])
    candidates = (
        candidate("a", MONDAY_MS, ("UTC", "Asia/Kolkata"), hours=hours),
        candidate("b", MONDAY_MS, ("UTC",), hours=hours),
    )
    schedule = Situation(candidates, {"a": 0, "b": 0}, (MONDAY_MS,), hours=hours).schedule()
    assert schedule.never == (("a", Never("calling_hours", "calling_hours")),)
    assert schedule.deferred == (("b", Deferred(MONDAY_MS - 3 * HOUR + 7 * DAY, "calling_hours")),)


def test_whoever_is_blocked_takes_no_channel_and_keeps_the_reason() -> None:
    hours = CallingHours(windows=[Window(days=list(WEEKDAYS), start="00:00", end="23:59")])
    candidates = (
        candidate("a", MONDAY_MS, ("UTC",), "do_not_call", hours=hours),
        candidate("b", MONDAY_MS, ("UTC",), hours=hours),
    )
    schedule = Situation(candidates, {"b": 0}, (MONDAY_MS,), most=1, hours=hours).schedule()
    assert schedule.never == (("a", Never("do_not_call", "do_not_call")),)
    assert [(call.contact_id, call.dial_ms) for call in schedule.calls] == [("b", MONDAY_MS)]


def test_the_gap_is_rounded_up_so_that_the_pace_is_never_exceeded() -> None:
    assert [DialPace(pace).gap_ms(0) for pace in (0.1, 1.0, 3.0, 7.0, 100.0)] == [10_000, 1_000, 334, 143, 10]


def test_channels_of_calls_that_were_not_made_stay_free() -> None:
    planned = tuple(Planned(name, at_ms) for name, at_ms in (("a", 0), ("b", 1_000), ("c", 60_000)))
    schedule = Schedule(planned, (), (), (61_000, 90_000), 60_000, (50_000, 61_000, 90_000))
    assert schedule.only({"a", "b", "c"}, [0, 0]) is schedule
    made = schedule.only({"a", "c"}, [0, 0])
    assert [call.contact_id for call in made.calls] == ["a", "c"]
    assert made.channel_free_at == (50_000, 90_000)


def test_the_pace_grows_evenly_from_one_call_a_second() -> None:
    pace = DialPace(11.0, ramp_up_ms=10_000, since_ms=1_000)
    assert [pace.at(at_ms) for at_ms in (0, 1_000, 6_000, 11_000, 99_000)] == [1.0, 1.0, 6.0, 11.0, 11.0]
    assert [pace.gap_ms(at_ms) for at_ms in (1_000, 6_000, 11_000)] == [1_000, 167, 91]
    assert DialPace(0.5, ramp_up_ms=10_000).gap_ms(0) == 2_000


@given(st.integers(1, 5_000), st.floats(0.1, 100), st.integers(0, 600), st.floats(0.1, 100))
def test_a_forecast_by_the_growing_pace_is_near_to_the_dials(
    calls: int, calls_per_second: float, ramp_up_s: int, most_per_second: float
) -> None:
    pace = DialPace(calls_per_second, ramp_up_ms=ramp_up_s * 1_000)
    at_s = 0.0
    for _ in range(calls):
        at_s += 1 / min(pace.at(round(at_s * 1_000)), most_per_second)
    assert abs(pace.lasts_s(calls, most_per_second=most_per_second) - at_s) <= 0.15 * at_s + 15
