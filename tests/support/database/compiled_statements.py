"""One cache of compiled SQL for all engines of the test process.

SQLAlchemy keeps what it compiles by engine. Each test opens a service with engines of its own, and compiling the same
statements again took a quarter of the tests' time.
"""

from typing import Any

from sqlalchemy import Connection, Dialect, Engine, event


class CompiledStatements(dict[Any, Any]):
    """Finds a statement again that an engine of the same database and driver has compiled."""

    def get(self, key: Any, default: Any = None, /) -> Any:
        return super().get(_by_driver(key), default)

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(_by_driver(key), value)


def share_compiled_statements() -> None:
    """From now on all engines of this process have one cache."""
    shared = CompiledStatements()

    def connected(connection: Connection) -> None:
        connection.execution_options(compiled_cache=shared)

    event.listen(Engine, "engine_connect", connected)


def _by_driver(key: tuple[Any, ...]) -> tuple[Any, ...]:
    """The key of SQLAlchemy, with the kind of each dialect in it in the place of the engine's own."""
    return tuple((part.name, part.driver) if isinstance(part, Dialect) else part for part in key)
