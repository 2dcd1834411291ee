"""asyncpg, the driver of what runs on the event loop: how it connects, and what its errors are.

It reads addresses as libpq does, with fewer settings. Source: asyncpg, "API Reference", `connect`.
"""

from collections.abc import Mapping
from typing import Any, cast

import asyncpg
from sqlalchemy import URL, make_url
from sqlalchemy.exc import DBAPIError

from .engines import APPLICATION
from .error_text import without_values

CONNECT_S = 5
"""How long connecting may take, unless the address says another time."""
_TIME = "connect_timeout"
_OF_SOCKETS = (
    "keepalives",
    "keepalives_idle",
    "keepalives_interval",
    "keepalives_count",
    "tcp_user_timeout",
    "client_encoding",
    "fallback_application_name",
)
"""Settings of libpq that asyncpg does not have and does not need: each unit of work has a limit of time."""
_KNOWN = (
    "host",
    "port",
    "user",
    "password",
    "passfile",
    "dbname",
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
    _TIME,
)
_OF_SYSTEM = "system"
"""The system's certificates, in place of a file."""
_PROCESS_ID = "SELECT pg_backend_pid()"
STATEMENTS_HELD = 100
"""Statements that one connection holds prepared on the server."""


def can_follow(url: str) -> bool:
    """Whether asyncpg can do what the address says. Where it cannot, as with Kerberos or several hosts, threads do."""
    query = make_url(url).query
    several_hosts = any(not isinstance(value, str) for value in query.values())
    is_known = query.keys() <= {*_KNOWN, *_OF_SOCKETS} and query.get("sslrootcert") != _OF_SYSTEM
    return is_known and not several_hosts


class Connector:
    """Makes connections to one address."""

    def __init__(self, url: str) -> None:
        said = make_url(url)
        query: Mapping[str, Any] = said.query
        self._limit_s = int(str(query.get(_TIME, 0))) or CONNECT_S
        kept = {name: value for name, value in query.items() if name not in (*_OF_SOCKETS, _TIME)}
        self._address = URL.create(
            "postgresql", said.username, said.password, said.host, said.port, said.database, kept
        ).render_as_string(hide_password=False)
        self._settings = {} if "application_name" in query else {"application_name": APPLICATION}
        self._prepares: bool | None = None

    async def prepares(self) -> bool:
        """Whether statements may be prepared on the server. Connects once to find out.

        Behind a pooler, such as pgbouncer, the next transaction may come to another connection of the server, which
        does not know what was prepared. A pooler names its own client in place of the server's process.

        Raises:
            DBAPIError: there is no connection to be had.
        """
        if self._prepares is not None:
            return self._prepares
        try:
            connection = await self._connect(0)
            try:
                process_id = await connection.fetchval(_PROCESS_ID)
                found = self._prepares = process_id == connection.get_server_pid()
            finally:
                connection.terminate()
        except (asyncpg.PostgresError, asyncpg.InterfaceError) as error:
            without_values(error)
            raise DBAPIError(_PROCESS_ID, None, error, hide_parameters=True) from error
        return found

    async def __call__(self) -> Any:
        """A connection. Raises asyncpg's errors, and its `CannotConnectNowError` where nobody answers."""
        return await self._connect(STATEMENTS_HELD if await self.prepares() else 0)

    async def _connect(self, held: int) -> Any:
        try:
            connect: Any = cast("Any", asyncpg).connect  # it has few types of its own
            return await connect(
                self._address, timeout=self._limit_s, statement_cache_size=held, server_settings=self._settings
            )
        except (OSError, TimeoutError) as error:
            raise asyncpg.CannotConnectNowError(f"nobody answers: {type(error).__name__}") from error
