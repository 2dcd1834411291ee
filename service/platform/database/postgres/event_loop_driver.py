"""asyncpg, the driver for units of work on the event loop: how it connects.

libpq reads an address, the environment and its files, and asyncpg gets the settings that result. So both connect to
the same server. Sources: psycopg, "ConnectionInfo"; asyncpg, "API Reference", `connect`.
"""

from collections.abc import Mapping
from typing import Any, cast

import asyncpg
from sqlalchemy import URL

from callwright.service.platform.database.engines import Limits, make_engine
from callwright.service.platform.database.postgres.time_limits import ThreadLimits

CONNECT_S = 5
"""How long connecting may take, unless the address says another time."""
_FOLLOWED = (
    "sslmode",
    "sslcert",
    "sslkey",
    "sslrootcert",
    "sslcrl",
    "sslpassword",
    "sslnegotiation",
    "ssl_min_protocol_version",
    "ssl_max_protocol_version",
    "target_session_attrs",
    "application_name",
    "options",
)
"""Settings of libpq that asyncpg takes by the same names."""
_OWN_WAY = (
    "host",
    "port",
    "user",
    "password",
    "passfile",
    "dbname",
    "service",
    "servicefile",
    "connect_timeout",
    "client_encoding",
    "fallback_application_name",
    "keepalives",
    "keepalives_idle",
    "keepalives_interval",
    "keepalives_count",
    "tcp_user_timeout",
)
"""Settings of libpq that are passed in another way, or not needed because each unit of work has a time limit."""
_NOTHING_ASKED = {
    "channel_binding": ("disable", "prefer"),
    "gssencmode": ("disable", "prefer"),
    "load_balance_hosts": ("disable",),
    "sslcertmode": ("disable", "allow"),
    "sslsni": ("1",),
}
"""Settings of libpq that asyncpg does not have, with the values that it may ignore."""
_OF_SYSTEM = "system"
"""The `sslrootcert` that means the system's certificates instead of a file."""
STATEMENTS_HELD = 100
"""The most prepared statements that one connection keeps on the server."""
_IS_NAMED_PROCESS = "SELECT 1 / (pg_backend_pid() = {})::int"
"""Fails if the process that answers is not the one that was reported when the connection was made."""


def can_follow(said: Mapping[str, str]) -> bool:
    """Whether asyncpg supports these libpq settings. If not (Kerberos, several hosts), brief units run in threads."""
    asked = {name for name, value in said.items() if value not in _NOTHING_ASKED.get(name, ())}
    several_hosts = "," in said.get("host", "")
    return asked <= {*_FOLLOWED, *_OWN_WAY} and said.get("sslrootcert") != _OF_SYSTEM and not several_hosts


def find_connector(url: str, limits: Limits, times: ThreadLimits | None = None) -> "Connector | None":
    """The connector to a database; None if asyncpg does not support its settings. Connects once to find out, within
    the limit of `times`.

    Raises:
        DBAPIError: no connection could be made.
    """
    engine = make_engine(url, times=times)
    try:
        with engine.connect() as connection:
            driver = cast("Any", connection.connection.dbapi_connection)
            said: dict[str, str] = driver.info.get_parameters()
            if not can_follow(said):
                return None
            place = URL.create(
                "postgresql",
                driver.info.user,
                driver.info.password,
                database=driver.info.dbname,
                query={
                    "host": driver.info.host,
                    "port": str(driver.info.port),
                    **{name: value for name, value in said.items() if name in _FOLLOWED},
                },
            )
            limit_s = int(said.get("connect_timeout", 0))
            limit_s = limit_s if limit_s > 0 else CONNECT_S
            prepares = driver.prepare_threshold is not None
            return Connector(place, limit_s, prepares=prepares, session=limits.session())
    finally:
        engine.dispose()


class Connector:
    """Makes connections to one place."""

    def __init__(self, place: URL, limit_s: float, *, prepares: bool, session: str = "") -> None:
        """`session` are statements with which each connection begins if there is no pooler."""
        self._session = session
        self._address = place.render_as_string(hide_password=False)
        self._limit_s = limit_s
        self.prepares = prepares
        """Whether statements may be prepared on the server, as the last connection showed.

        Behind a pooler such as pgbouncer, the next transaction may use another connection to the server, which does not
        have the prepared statements. A pooler is recognised because the process id it reports is not the server's.
        """

    async def __call__(self) -> Any:
        """A connection. Raises asyncpg's errors, such as `CannotConnectNowError` if no server answers."""
        connection = await self._connect()
        try:
            if not self.prepares:
                self.prepares = await connection.fetchval("SELECT pg_backend_pid()") == connection.get_server_pid()
                return connection
            # Nothing may be prepared before this is known, and statements without values never are.
            is_named = _IS_NAMED_PROCESS.format(connection.get_server_pid())
            await connection.execute(f"{is_named}; {self._session}")
            return connection
        except asyncpg.DivisionByZeroError:
            connection.terminate()
            self.prepares = False
        except BaseException:
            connection.terminate()
            raise
        return await self._connect()

    async def _connect(self) -> Any:
        held = STATEMENTS_HELD if self.prepares else 0
        try:
            connect: Any = cast("Any", asyncpg).connect  # it has few types of its own
            return await connect(self._address, timeout=self._limit_s, statement_cache_size=held)
        except (OSError, TimeoutError) as error:
            raise asyncpg.CannotConnectNowError(f"nobody answers: {type(error).__name__}") from error
