"""Ending transactions on Postgres whose process is silent: it was stopped, or its network was cut.

Such a transaction is rolled back, and its process gets an error at its next statement, so that it cannot go on.
Postgres itself ends transactions that are silent between two statements (`engines.Limits`). These functions are for
units that cannot wait for that, and for transactions that are silent in a statement because nobody reads its result.
"""

from sqlalchemy import Connection, text

from callwright.service.platform.database.engines import APPLICATION

OWN_PID = text("SELECT pg_backend_pid()")
_IDLE = """
    (a.state LIKE 'idle in transaction%' OR (a.state = 'active' AND a.wait_event_type = 'Client'))
    AND a.state_change < clock_timestamp() - :idle_ms * interval '1 millisecond'
"""
_END_BLOCKING = text(f"""
    WITH RECURSIVE before(pid) AS (
        SELECT unnest(pg_blocking_pids(:pid)) UNION SELECT unnest(pg_blocking_pids(before.pid)) FROM before
    )
    SELECT count(pg_terminate_backend(a.pid)) FROM pg_stat_activity a JOIN before ON before.pid = a.pid
    WHERE a.usename = current_user AND {_IDLE}
""")
_END_IDLE = text(f"""
    SELECT count(pg_terminate_backend(a.pid)) FROM pg_stat_activity a
    WHERE a.datname = current_database() AND a.usename = current_user AND a.pid <> pg_backend_pid()
        AND (a.application_name = current_setting('application_name')
            OR starts_with(a.application_name, '{APPLICATION}'))
        AND a.backend_xid IS NOT NULL AND {_IDLE}
""")


def end_blocking_transactions(connection: Connection, pid: int, idle_ms: int) -> int:
    """Ends silent transactions that block another one, directly or through others; returns how many.

    `pid` is the result of `OWN_PID` in the transaction that waits.
    """
    return connection.execute(_END_BLOCKING, {"pid": pid, "idle_ms": idle_ms}).scalar_one()


def end_idle_transactions(connection: Connection, idle_ms: int) -> int:
    """Ends silent transactions of this service that have changed or locked something; returns how many."""
    return connection.execute(_END_IDLE, {"idle_ms": idle_ms}).scalar_one()
