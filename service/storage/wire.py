"""Prepared statements handed to libpq from the event loop, without the layers that suit any statement.

A thread that talks to Postgres gives the interpreter's lock away several times for each statement, and waits for it as
often; several such threads spend most of a processor on that alone. Source: libpq, "Asynchronous Command Processing".
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self, TypeVar, cast

import anyio
import psycopg
import psycopg.adapt
from psycopg.abc import PQGen, Transformer
from psycopg.adapt import PyFormat
from psycopg.errors import error_from_result
from psycopg.pq import ConnStatus, ExecStatus, TransactionStatus
from psycopg.pq.abc import PGresult
from sqlalchemy.util import await_

MOST_STATEMENTS = 1_000
"""Statements that one connection holds prepared; others are sent whole each time."""
_RV = TypeVar("_RV")
_DONE = (ExecStatus.COMMAND_OK, ExecStatus.TUPLES_OK)
_transformer: Callable[[Any], Transformer] = cast("Any", psycopg.adapt).Transformer
"""What turns values into what libpq sends and back. Its class is compiled, and has no types of its own."""


class Found(NamedTuple):
    """What a statement came to, read like a cursor."""

    rows: list[tuple[Any, ...]]
    rowcount: int

    def fetchone(self) -> tuple[Any, ...] | None:
        """The first row."""
        return self.rows[0] if self.rows else None

    def fetchall(self) -> list[tuple[Any, ...]]:
        """Every row."""
        return self.rows


@dataclass(slots=True)
class _Statement:
    """What one connection knows of a statement: how its values and rows are converted, its name by types of values."""

    adapt: Transformer
    names: dict[tuple[int, ...], bytes] = field(default_factory=dict[tuple[int, ...], bytes])
    loads: bool = False
    """Whether `adapt` knows the columns."""


class Wire:
    """Runs prepared statements on a connection, in greenlets of the event loop in which it was made, one at a time."""

    def __init__(self, connection: "WiredConnection") -> None:
        self._connection, self._pg = connection, connection.pgconn
        self._loop = asyncio.get_running_loop()
        self._statements: dict[bytes, _Statement] = {}
        self._count = 0
        self._unsent: list[Callable[[], None]] = []
        self._socket: int | None = None
        """Where it listens; libpq forgets the number when it loses the connection."""
        self._answered: asyncio.Future[None] | None = None

    def perform(self, sql: bytes, values: Sequence[Any]) -> Found:
        """Runs one statement, whose places are $1, $2 and so on. Raises `psycopg.Error` as psycopg itself does."""
        held, send = self._made(sql, values)
        result = self._answer(send)
        if result.status != ExecStatus.TUPLES_OK:
            return Found([], result.command_tuples or 0)
        adapt = held.adapt
        adapt.set_pgresult(result, set_loaders=not held.loads)  # the columns of one statement stay the same
        held.loads = True
        return Found(adapt.load_rows(0, result.ntuples, tuple), result.ntuples)

    def later(self, sql: bytes, values: Sequence[Any]) -> None:
        """Has a statement of a transaction sent together with the next one, which raises what is wrong with either."""
        self._unsent.append(self._made(sql, values)[1])

    def begin(self, settings: Sequence[tuple[str, int]] = ()) -> None:
        """Has the first statement begin a transaction, with settings that hold for it alone."""
        self._unsent.append(lambda: self._pg.send_query_params(b"BEGIN", None))
        for name, value in settings:
            sql = b"SET LOCAL %s = %d" % (name.encode(), value)
            self._unsent.append(lambda sql=sql: self._pg.send_query_params(sql, None))

    def send_unsent(self) -> None:
        """Sends what was to go out with the next statement. Whoever else sends one calls this before."""
        if self._unsent:
            self._answer(self._unsent.pop())

    def commit(self) -> None:
        """Ends a transaction. Raises `psycopg.Error`, also when it undid everything because a statement had failed."""
        done = self._answer(lambda: self._pg.send_query_params(b"COMMIT", None)).command_status
        if done != b"COMMIT":
            raise psycopg.InternalError("a statement of the transaction failed, so nothing of it was kept")

    def roll_back(self) -> None:
        """Ends a transaction without keeping anything of it."""
        self._unsent.clear()
        if self._pg.transaction_status != TransactionStatus.IDLE:
            self._answer(lambda: self._pg.send_query_params(b"ROLLBACK", None))

    def _made(self, sql: bytes, values: Sequence[Any]) -> tuple[_Statement, Callable[[], None]]:
        """What is known of a statement, and what sends it."""
        held = self._statements.get(sql)
        if held is None:
            held = _Statement(_transformer(self._connection))
            if len(self._statements) < MOST_STATEMENTS:
                self._statements[sql] = held
        adapt = held.adapt
        given = adapt.dump_sequence(values, [PyFormat.AUTO] * len(values))
        types, formats = adapt.types or (), adapt.formats
        name = held.names.get(types)
        if name is None and self._count < MOST_STATEMENTS:
            name = b"w%d" % self._count
            self._pg.send_prepare(name, sql, types)
            self._checked(self._drained)
            self._count += 1
            held.names[types] = name
        if name is None:
            return held, lambda: self._pg.send_query_params(sql, given, types, formats)
        return held, lambda: self._pg.send_query_prepared(name, given, formats)

    def _answer(self, send: Callable[[], None]) -> PGresult:
        """What a statement came to. Raises `psycopg.Error`, also for what is sent before it or fails only after it."""
        if not self._unsent:
            send()
            return self._checked(self._drained)
        sent = [*self._unsent, send]
        self._unsent.clear()
        self._pg.enter_pipeline_mode()
        try:
            for each in sent:
                each()
            self._pg.pipeline_sync()
            return self._checked(self._drained_pipeline)
        finally:
            if self._pg.status != ConnStatus.BAD:
                self._pg.exit_pipeline_mode()

    def _checked(self, drained: Callable[[], PGresult | None]) -> PGresult:
        try:
            result = drained()
        finally:
            if self._pg.status == ConnStatus.BAD:  # libpq may have closed the socket, and others get its number
                self.stop_listening()
        if result is None:
            raise psycopg.OperationalError("the connection to Postgres is lost")
        if result.status not in _DONE:
            raise error_from_result(result, self._connection.info.encoding)
        return result

    def _drained(self) -> PGresult | None:
        """The result, or the first one that is an error."""
        self._flush()
        result: PGresult | None = None
        while (found := self._next()) is not None:
            if result is None or (result.status in _DONE and found.status not in _DONE):
                result = found
        return result

    def _drained_pipeline(self) -> PGresult | None:
        """The last statement's result, or the first one that is an error."""
        self._flush()
        result: PGresult | None = None
        while True:
            found = self._next()
            if found is None:  # between two statements, or there is nobody any more
                if self._pg.status == ConnStatus.BAD:
                    return result if result is not None and result.status not in _DONE else None
            elif found.status == ExecStatus.PIPELINE_SYNC:
                return result
            elif result is None or result.status in _DONE:
                result = found

    def _flush(self) -> None:
        while self._pg.flush():
            await_(self._movable())

    def _next(self) -> PGresult | None:
        while self._pg.is_busy():
            await_(self._readable())
        return self._pg.get_result()

    def _readable(self) -> "asyncio.Future[None]":
        """Done when a whole result is there, or the connection lost."""
        if self._socket is None:
            self._socket = self._pg.socket
            self._loop.add_reader(self._socket, self._read)
        self._answered = self._loop.create_future()
        return self._answered

    def _read(self) -> None:
        try:
            self._pg.consume_input()
            if self._pg.is_busy():
                return
        except psycopg.OperationalError:  # the result says so as well
            self.stop_listening()
        if self._answered is not None and not self._answered.done():
            self._answered.set_result(None)
        self._answered = None

    async def _movable(self) -> None:
        """Waits until more can be sent, or something can be read, as when the other side is gone."""
        self.stop_listening()
        socket, moved = self._pg.socket, anyio.Event()
        self._loop.add_reader(socket, moved.set)
        self._loop.add_writer(socket, moved.set)
        try:
            await moved.wait()
        finally:
            self._loop.remove_reader(socket)
            self._loop.remove_writer(socket)
        self._pg.consume_input()

    def stop_listening(self) -> None:
        """Leaves the socket to others."""
        socket, self._socket = self._socket, None
        if socket is not None:
            self._loop.remove_reader(socket)


class WiredConnection(psycopg.AsyncConnection[tuple[Any, ...]]):
    """A connection to Postgres, with its wire."""

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self.wire = Wire(self)

    async def wait(self, gen: PQGen[_RV], *args: Any, **named: Any) -> _RV:
        """As psycopg waits. It listens to the socket itself then, and stops doing so at the end."""
        self.wire.stop_listening()
        return await super().wait(gen, *args, **named)

    async def close(self) -> None:
        """Closes the connection; nothing listens to its socket any more."""
        self.wire.stop_listening()
        await super().close()

    @classmethod
    async def connect(cls, *args: Any, **named: Any) -> Self:
        """As psycopg connects."""
        return await super().connect(*args, **named)
