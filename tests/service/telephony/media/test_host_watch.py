"""A media process without its host."""

from callwright.service.telephony.media.host_watch import TICK_S, HostWatch
from callwright.service.telephony.media.messages import ALIVE_S, HOST_SILENT_S

TICKS = round(HOST_SILENT_S / TICK_S)


def test_a_host_that_has_never_said_that_it_lives_is_not_missed() -> None:
    watch = HostWatch()
    watch.heard(is_alive=False)
    assert not any(watch.tick() for _ in range(10 * TICKS))


def test_a_host_that_is_silent_counts_as_gone_once() -> None:
    watch = HostWatch()
    watch.heard(is_alive=True)
    assert [watch.tick() for _ in range(2 * TICKS)] == [False] * TICKS + [True] + [False] * (TICKS - 1)


def test_every_order_of_a_host_shows_that_it_lives() -> None:
    watch = HostWatch()
    watch.heard(is_alive=True)
    for _ in range(10):
        assert not any(watch.tick() for _ in range(TICKS))
        watch.heard(is_alive=False)
    assert [watch.tick() for _ in range(TICKS + 1)][-1]


def test_a_host_speaks_often_enough() -> None:
    assert 3 * ALIVE_S < HOST_SILENT_S
