"""How late it is for certain: no single reading of the clock moves it, and it never lags for long."""

from dataclasses import dataclass, field

import pytest

from callwright.service.platform.clock.clock import DAY, HOUR, MINUTE
from callwright.service.platform.clock.clock_verifier import EVEN_MS, ClockReading, ClockVerifier
from tests.support.clock_set_by_test import NOON_MS

MONTH = 31 * DAY
AHEAD = pytest.mark.parametrize("ahead_ms", [HOUR, MONTH])


@dataclass
class Machine:
    """A machine with its own idea of the time; `kept` is what its database holds."""

    true_ms: int = NOON_MS
    ahead_ms: int = 0
    kept: ClockReading | None = None
    process: ClockVerifier = field(default_factory=ClockVerifier)

    @property
    def confirmed_now_ms(self) -> int:
        return self.process.confirmed_now_ms(self.true_ms + self.ahead_ms, self.true_ms)

    def run(self, for_ms: int, *, every_ms: int = MINUTE) -> None:
        """Time passes, with looks at the clock; what is certain is never too late."""
        for _ in range(max(1, for_ms // every_ms)):
            self.true_ms += every_ms
            self.kept = self.process.look(self.kept, self.true_ms + self.ahead_ms, self.true_ms)
            assert self.confirmed_now_ms <= self.true_ms + EVEN_MS
            assert self.confirmed_now_ms <= self.true_ms + self.ahead_ms

    def restart(self, *, after_ms: int = 3_000) -> None:
        self.true_ms += after_ms
        self.process = ClockVerifier()
        assert self.confirmed_now_ms == 0


def sound() -> Machine:
    made = Machine(kept=ClockReading(NOON_MS, NOON_MS, NOON_MS))
    made.run(10 * MINUTE)
    assert made.confirmed_now_ms == made.true_ms
    return made


def test_a_clock_that_goes_on_evenly_is_certain_at_once_also_after_a_restart() -> None:
    machine = sound()
    machine.restart(after_ms=2 * MINUTE)
    machine.run(MINUTE)
    assert machine.confirmed_now_ms == machine.true_ms


@AHEAD
@pytest.mark.parametrize("restarts", ["never", "ahead", "back", "both"])
def test_a_clock_that_was_ahead_for_hours_moves_nothing(ahead_ms: int, restarts: str) -> None:
    machine = sound()
    machine.ahead_ms = ahead_ms
    if restarts in ("ahead", "both"):
        machine.restart()
    machine.run(5 * HOUR)
    machine.ahead_ms = 0
    if restarts in ("back", "both"):
        machine.restart()
    machine.run(MINUTE)
    assert machine.true_ms - machine.confirmed_now_ms <= EVEN_MS


@pytest.mark.parametrize("orders", [(HOUR, MONTH), (MONTH, HOUR), (MONTH, 0, HOUR), (HOUR, 0, MONTH), (-MONTH, MONTH)])
@pytest.mark.parametrize("restarts", [False, True])
def test_several_wrong_readings_one_after_another_move_nothing(orders: tuple[int, ...], restarts: bool) -> None:
    machine = sound()
    for ahead_ms in orders:
        machine.ahead_ms = ahead_ms
        if restarts:
            machine.restart()
        machine.run(20 * MINUTE)
    machine.ahead_ms = 0
    machine.run(2 * DAY)
    assert machine.confirmed_now_ms == machine.true_ms


@AHEAD
def test_a_database_that_is_new_under_a_clock_that_is_ahead_is_certain_of_nothing(ahead_ms: int) -> None:
    machine = Machine(ahead_ms=ahead_ms)
    machine.run(5 * HOUR)
    machine.ahead_ms = 0
    machine.restart()
    machine.run(HOUR)
    assert machine.confirmed_now_ms <= machine.true_ms - 5 * HOUR
    machine.run(DAY)
    assert machine.confirmed_now_ms == machine.true_ms


@AHEAD
def test_a_service_that_was_off_is_certain_again_after_a_day(ahead_ms: int) -> None:
    machine = sound()
    machine.restart(after_ms=ahead_ms)
    machine.run(HOUR)
    assert machine.confirmed_now_ms < machine.true_ms - 30 * MINUTE
    machine.run(DAY)
    assert machine.confirmed_now_ms == machine.true_ms


def test_a_machine_that_runs_for_an_hour_a_day_lags_by_three_days_at_most() -> None:
    machine = sound()
    for _ in range(20):
        machine.restart(after_ms=23 * HOUR)
        machine.run(HOUR)
    assert machine.true_ms - machine.confirmed_now_ms <= 3 * DAY


@AHEAD
def test_a_process_whose_clock_is_ahead_moves_nothing_for_those_beside_it(ahead_ms: int) -> None:
    right, wrong = sound(), ClockVerifier()
    for _ in range(3 * DAY // MINUTE):
        right.kept = wrong.look(right.kept, right.true_ms + ahead_ms, right.true_ms)
        assert wrong.confirmed_now_ms(right.true_ms + ahead_ms, right.true_ms) <= right.true_ms
        right.run(MINUTE)
        assert right.confirmed_now_ms == right.true_ms
