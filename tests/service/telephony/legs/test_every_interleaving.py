"""No order of the steps of two hosts and a carrier places a leg twice."""

from collections.abc import Generator

import pytest
from sqlalchemy import Connection, update

from callwright.service.tables.schema import legs
from callwright.service.telephony.legs import leg_rows
from tests.service.telephony.legs.interleavings import Model, explore, modelled_rows, places_twice


@pytest.fixture
def rows() -> Generator[Connection]:
    connection = modelled_rows()
    yield connection
    connection.close()
    connection.engine.dispose()


@pytest.mark.requirement("LINE-01")
def test_a_leg_is_placed_at_most_once_in_every_interleaving(rows: Connection) -> None:
    explored = explore(Model(rows))
    assert explored.states > 300
    assert explored.most_accepted == 1
    assert explored.rung_after_undialled == 0
    assert not explored.stuck


def _no_fence(connection: Connection, call_id: str, host: str, now_ms: int) -> bool:
    """What a queue does: whoever has taken the leg places it."""
    connection.execute(
        update(legs)
        .where(legs.c.call_id == call_id, legs.c.state.in_(("new", "placing")))
        .values(state="placing", placing_at=now_ms)
    )
    return True


def test_without_the_fence_some_interleaving_places_it_twice(rows: Connection) -> None:
    assert places_twice(Model(rows, fence=_no_fence, has_deadline=False))


@pytest.mark.long
def test_the_fence_holds_without_the_last_moment_for_the_request(rows: Connection) -> None:
    assert not places_twice(Model(rows, has_deadline=False))


def test_placing_lost_legs_again_places_them_twice(rows: Connection) -> None:
    assert places_twice(Model(rows, fence=_again, places_lost=True))


def _again(connection: Connection, call_id: str, host: str, now_ms: int) -> bool:
    """A fence that lets the new holder of a lost leg place it."""
    is_mine = update(legs).where(legs.c.call_id == call_id, legs.c.lease_owner == host, legs.c.state == "placing")
    return leg_rows.begin_placing(connection, call_id, host, now_ms) or bool(
        connection.execute(is_mine.values(placing_at=now_ms)).rowcount
    )
