"""Work of a request that needs no database is not counted by the limit of its units of work."""

import pytest

from callwright.service.platform.database.postgres import time_limits
from callwright.service.platform.database.postgres.time_limits import deadline, limited, uncounted


class ScriptedTime:
    """A clock that a test sets, in seconds."""

    now_s = 100.0

    def monotonic(self) -> float:
        return self.now_s


def test_what_is_prepared_without_the_database_takes_nothing_of_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = ScriptedTime()
    monkeypatch.setattr(time_limits, "time", clock)
    with limited(10.0):
        clock.now_s = 102.0
        with uncounted():
            clock.now_s = 160.0
        assert deadline(60.0) == pytest.approx(168.0)
        assert deadline(5.0) == pytest.approx(165.0)
    assert deadline(60.0) == pytest.approx(220.0)
