"""Limits for request heads, which arrive before it is known who sends them.

uvicorn's fast parser limits neither the size of headers nor the time they take, and joins the pieces of a long one in
quadratic time. Its other parser, for systems without httptools, limits the size.
"""

from collections.abc import Callable
from typing import Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from callwright.contract.problems import HEADERS_TOO_LARGE, MALFORMED_REQUEST, REQUEST_TIMEOUT, ProblemCode

MAX_HEAD = 65_536
"""The most bytes of a request's line and headers, and of data after its body; one packet more is read."""
PER_BODY_BYTE = 8
"""Further bytes allowed for each byte of a chunked body, where a length precedes each chunk."""
HEAD_LIMIT_S = 20.0
"""How long a head may take to arrive, from its first byte or from the start of the connection."""
_WEBSOCKETS = (b"/talk/", b"/lines/twilio/media/")
_OF_A_BODY = frozenset({b"content-length", b"transfer-encoding"})


class BoundedProtocol(HttpToolsProtocol):
    """uvicorn's fast protocol, which closes a connection whose request head is too large, too slow or not HTTP.

    `refused` returns the id of a request that ends so, and the body of its answer.
    """

    _begun = False
    _beside_body = 0
    _body = 0
    _stop_clock: Callable[[], None] | None = None

    def __init__(self, *, refused: Callable[[ProblemCode], tuple[str, bytes]], **given: Any) -> None:
        super().__init__(**given)
        self._refused = refused
        self._websockets: Any = self.ws_protocol_class  # pyright: ignore[reportUnknownMemberType]  # its own types vary

    def connection_made(self, transport: Any) -> None:
        """Starts the time limit for the first head."""
        super().connection_made(transport)
        self._start_clock()

    def connection_lost(self, exc: Exception | None) -> None:
        """Ends the time limit."""
        self._end_clock()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Reads data and counts what is not a body. A packet in which a request begins counts 0."""
        self._begun = False
        body = self._body
        super().data_received(data)
        self._beside_body = 0 if self._begun else self._beside_body + len(data) - (self._body - body)
        if self._beside_body > MAX_HEAD + PER_BODY_BYTE * self._body:
            self._refuse(HEADERS_TOO_LARGE)

    def on_message_begin(self) -> None:
        """A head begins."""
        super().on_message_begin()
        self._begun, self._body = True, 0
        self._start_clock()

    def on_headers_complete(self) -> None:
        """The head is complete.

        Only talks in the browser and the sound of calls have websockets. Elsewhere an upgrade to another protocol is
        ignored, and the request answered as any other (RFC 9110, section 7.8). But the parser takes what follows for
        that protocol, so a body could not be read.
        """
        self._end_clock()
        self.ws_protocol_class = self._websockets if self.url.startswith(_WEBSOCKETS) else None
        has_body = any(name in _OF_A_BODY and value != b"0" for name, value in self.headers)
        parser: Any = self.parser
        if has_body and parser.should_upgrade():
            self._refuse(MALFORMED_REQUEST)
            return
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """A piece of the body."""
        self._body += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """The request is complete, unless it was refused."""
        if not self.transport.is_closing():
            super().on_message_complete()

    def _start_clock(self) -> None:
        if self._stop_clock is None:
            self._stop_clock = self.loop.call_later(HEAD_LIMIT_S, self._refuse, REQUEST_TIMEOUT).cancel

    def _end_clock(self) -> None:
        if self._stop_clock is not None:
            self._stop_clock()
            self._stop_clock = None

    def send_400_response(self, msg: str) -> None:
        """Closes a connection without valid HTTP. An error in a body is answered to that body's request."""
        cycle: Any = self.cycle
        self._end(MALFORMED_REQUEST, is_heard=cycle is None or cycle.response_complete or not cycle.response_started)

    def _refuse(self, problem: ProblemCode) -> None:
        """Closes the connection, with an answer unless another one is being written or will be."""
        cycle: Any = self.cycle  # none before the first request
        self._end(problem, is_heard=cycle is None or cycle.response_complete)

    def _end(self, problem: ProblemCode, *, is_heard: bool) -> None:
        self._end_clock()
        if self.transport.is_closing():
            return
        if is_heard:
            request_id, body = self._refused(problem)
            lines = (
                STATUS_LINE[problem.status],
                b"content-type: application/json\r\n",
                b"content-length: %d\r\n" % len(body),
                b"x-request-id: %s\r\n" % request_id.encode(),
                b"connection: close\r\n\r\n",
                body,
            )
            self.transport.write(b"".join(lines))
        self.transport.close()
