"""What is taken for a database that is away, and how often the log says so."""

import logging

import asyncpg
import psycopg
import pytest
from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from callwright.service.platform.database.postgres.reachability import (
    LEAST_S,
    SAID_EVERY_S,
    DatabaseUnreachable,
    Reachability,
)


class Clock:
    """Shows seconds as the test sets them."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def of_driver(error: psycopg.Error, *, is_lost: bool = False) -> DBAPIError:
    """As SQLAlchemy raises it."""
    return OperationalError("SELECT", None, error, connection_invalidated=is_lost)


AWAY = [
    of_driver(psycopg.OperationalError("connection refused")),
    of_driver(psycopg.OperationalError("the connection is closed"), is_lost=True),
    of_driver(psycopg.errors.AdminShutdown("terminating connection"), is_lost=True),
    of_driver(psycopg.errors.CrashShutdown("terminating connection"), is_lost=True),
    of_driver(psycopg.errors.CannotConnectNow("starting up")),
    of_driver(psycopg.errors.ConnectionFailure("lost")),
    PoolTimeout("no connection"),
    TimeoutError("the unit took too long"),
]
THERE = [
    of_driver(psycopg.errors.IdleInTransactionSessionTimeout("silent"), is_lost=True),
    of_driver(psycopg.errors.LockNotAvailable("locked")),
    of_driver(psycopg.errors.DiskFull("no room")),
    ValueError("a fault of the program"),
]


def found_away(reachability: Reachability) -> None:
    """One unit of work that finds nobody."""
    with pytest.raises(DatabaseUnreachable):
        reachability.check(AWAY[0])


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (asyncpg.TooManyConnectionsError("remaining slots are reserved"), "has no connection free"),
        (asyncpg.InvalidPasswordError("password authentication failed"), "refuses the account"),
        (asyncpg.InvalidCatalogNameError("no such database"), "is not there"),
        (asyncpg.ReadOnlySQLTransactionError("cannot execute INSERT"), "takes no writes"),
        (asyncpg.QueryCanceledError("statement timeout"), "took too long"),
        (asyncpg.CannotConnectNowError("starting up"), "does not answer"),
        (asyncpg.AdminShutdownError("terminating connection"), "does not answer"),
    ],
)
def test_why_a_database_cannot_be_used_is_said(error: asyncpg.PostgresError, why: str) -> None:
    with pytest.raises(DatabaseUnreachable, match=f"the database {why}"):
        Reachability().check(DBAPIError("SELECT", None, error))


def test_a_database_that_takes_no_writes_is_away_until_it_has_taken_one() -> None:
    reachability = Reachability()
    with pytest.raises(DatabaseUnreachable):
        reachability.check(DBAPIError("INSERT", None, asyncpg.ReadOnlySQLTransactionError("cannot execute INSERT")))
    reachability.answered(wrote=False)
    assert reachability.is_away
    reachability.answered(wrote=True)
    assert not reachability.is_away


@pytest.mark.parametrize("error", AWAY, ids=lambda error: str(error)[:40])
def test_an_error_of_a_server_that_is_gone_says_that_the_database_does_not_answer(error: Exception) -> None:
    reachability = Reachability()
    with pytest.raises(DatabaseUnreachable, match="does not answer") as caught:
        reachability.check(error)
    assert caught.value.__cause__ is error
    assert reachability.is_away


@pytest.mark.parametrize("error", THERE, ids=lambda error: str(error)[:40])
def test_an_error_of_a_server_that_is_there_stays_what_it_is(error: Exception) -> None:
    reachability = Reachability()
    reachability.check(error)
    assert not reachability.is_away


def test_the_log_says_it_at_once_then_every_ten_seconds_and_when_it_is_over(caplog: pytest.LogCaptureFixture) -> None:
    clock = Clock()
    reachability = Reachability(monotonic=clock)
    for _ in range(50):
        found_away(reachability)
    clock.now_s += SAID_EVERY_S
    found_away(reachability)
    with caplog.at_level(logging.WARNING):
        reachability.answered()
        assert not reachability.is_away
        clock.now_s += LEAST_S
        reachability.answered()
        reachability.answered()
    said = [record.getMessage() for record in caplog.records]
    assert [text.rpartition("(")[2] for text in said] == [
        "1 requests and tasks failed)",
        "51 requests and tasks failed)",
        "51 had failed)",
    ]
    assert not reachability.is_away


def test_the_log_says_it_once_a_second_at_most_while_the_server_comes_and_goes(
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock = Clock()
    reachability = Reachability(monotonic=clock)
    for _ in range(24):
        found_away(reachability)
        reachability.answered()
        clock.now_s += LEAST_S / 8
    levels = [record.levelno for record in caplog.records]
    assert levels == [logging.ERROR, logging.WARNING, logging.ERROR]
