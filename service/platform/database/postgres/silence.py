"""Ending transactions on Postgres whose process is silent: it was stopped, or its network was cut.

Nothing of such a transaction is kept, and its process is told at its next statement, if there ever is one: so nobody
acts on it later. Postgres itself ends those that are silent between two statements (`engines.Limits`); these here are
for who cannot wait for that, and for those in the midst of a statement, as when a result is sent that nobody reads.
"""

from sqlalchemy import Connection, text

from callwright.service.platform.database.engines import APPLICATION

OWN_PID = text("SELECT pg_backend_pid()")
_WORDLESS = """
    (a.state LIKE 'idle in transaction%' OR (a.state = 'active' AND a.wait_event_type = 'Client'))
    AND a.state_change < clock_timestamp() - :silent_ms * interval '1 millisecond'
"""
_IN_THE_WAY = text(f"""
    WITH RECURSIVE before(pid) AS (
        SELECT unnest(pg_blocking_pids(:pid)) UNION SELECT unnest(pg_blocking_pids(before.pid)) FROM before
    )
    SELECT count(pg_terminate_backend(a.pid)) FROM pg_stat_activity a JOIN before ON before.pid = a.pid
    WHERE a.usename = current_user AND {_WORDLESS}
""")
_STUCK = text(f"""
    SELECT count(pg_terminate_backend(a.pid)) FROM pg_stat_activity a
    WHERE a.datname = current_database() AND a.usename = current_user AND a.pid <> pg_backend_pid()
        AND (a.application_name = current_setting('application_name')
            OR starts_with(a.application_name, '{APPLICATION}'))
        AND a.backend_xid IS NOT NULL AND {_WORDLESS}
""")


def clear_the_way(connection: Connection, pid: int, silent_ms: int) -> int:
    """Ends silent transactions for which another one waits, directly or behind others; returns how many.

    `pid` is what `OWN_PID` gives in the one that waits.
    """
    return connection.execute(_IN_THE_WAY, {"pid": pid, "silent_ms": silent_ms}).scalar_one()


def end_stuck(connection: Connection, silent_ms: int) -> int:
    """Ends silent transactions of this service that have changed or locked something; returns how many."""
    return connection.execute(_STUCK, {"silent_ms": silent_ms}).scalar_one()
