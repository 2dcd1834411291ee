"""A trunk of tests over UDP that answers as it is told: with any status, late, never, or without any sound."""

import asyncio
import hashlib
import re
import socket
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import cast

import anyio

from callwright.service.telephony.carriers.sip_trunk import SipTrunk

_PAIR = re.compile(r'(\w+)="?([^",]*)"?')
REALM, NONCE = "tests", "abc123"


@dataclass(frozen=True)
class Request:
    """A request that came."""

    method: str
    uri: str
    headers: Mapping[str, str]
    """By name in small letters; the first of each."""
    body: str
    vias: Sequence[str]

    def proves(self, user: str, password: str) -> bool:
        """Whether it has the right digest."""
        header = self.headers.get("authorization") or self.headers.get("proxy-authorization") or ""
        given = dict(_PAIR.findall(header))

        def md5(*parts: str) -> str:
            return hashlib.md5(":".join(parts).encode()).hexdigest()

        secret = md5(user, REALM, password)
        what = md5(self.method, given.get("uri", ""))
        if "qop" in given:
            wanted = md5(secret, NONCE, given["nc"], given["cnonce"], given["qop"], what)
        else:
            wanted = md5(secret, NONCE, what)
        return given.get("username") == user and given.get("response") == wanted


def _parsed(datagram: bytes) -> Request | None:
    head, _, body = datagram.decode().partition("\r\n\r\n")
    first, *lines = head.split("\r\n")
    if not first.endswith("SIP/2.0"):
        return None
    headers: dict[str, str] = {}
    vias: list[str] = []
    for line in lines:
        name, _, value = line.partition(":")
        headers.setdefault(name.lower(), value.strip())
        if name.lower() == "via":
            vias.append(value.strip())
    method, uri, _ = first.split(" ", 2)
    return Request(method, uri, headers, body, vias)


@dataclass(frozen=True)
class Answer:
    """An answer, some time after the request. With sound it has a description of it, to a port that sends none."""

    status: int
    after_s: float = 0.0
    headers: str = ""
    has_sound: bool = False


Script = Callable[[Request], Sequence[Answer]]


class PlainTrunk(asyncio.DatagramProtocol):
    """Answers INVITE and REGISTER by a script, and all else with 200."""

    def __init__(self, script: Script, sound_port: int) -> None:
        self._script, self._sound_port = script, sound_port
        self._answered: set[str] = set()
        self._transport: asyncio.DatagramTransport | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._closed = asyncio.Event()
        self.port = 0
        self.requests: list[Request] = []

    @property
    def trunk(self) -> SipTrunk:
        return SipTrunk("127.0.0.1", self.port)

    def methods(self) -> list[str]:
        """What came, each request once although it may be repeated."""
        kinds = [(each.method, each.headers["cseq"], each.headers["call-id"]) for each in self.requests]
        return [method for method, _, _ in dict.fromkeys(kinds)]

    async def got(self, method: str, within_s: float = 40.0) -> Request:
        """Waits for the first request of a kind."""
        with anyio.fail_after(within_s):
            while True:
                for each in self.requests:
                    if each.method == method:
                        return each
                await anyio.sleep(0.02)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.DatagramTransport", transport)
        self.port = transport.get_extra_info("sockname")[1]

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        request = _parsed(data)
        if request is None:
            return
        self.requests.append(request)
        key = f"{request.headers['call-id']} {request.headers['cseq']}"
        if request.method == "ACK" or key in self._answered:
            return
        self._answered.add(key)
        answers = self._script(request) if request.method in ("INVITE", "REGISTER") else [Answer(200)]
        task = asyncio.ensure_future(self._answer(request, answers, addr))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _answer(self, request: Request, answers: Sequence[Answer], addr: tuple[str, int]) -> None:
        for answer in answers:
            await asyncio.sleep(answer.after_s)
            if self._transport is not None:
                self._transport.sendto(self._text(request, answer).encode(), addr)

    def _text(self, request: Request, answer: Answer) -> str:
        to = request.headers["to"] + ("" if answer.status == 100 or "tag=" in request.headers["to"] else ";tag=t1")
        body = ""
        if answer.has_sound:
            body = (
                "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\n"
                f"m=audio {self._sound_port} RTP/AVP 0 101\r\na=rtpmap:0 PCMU/8000\r\n"
                "a=rtpmap:101 telephone-event/8000\r\n"
            )
        lines = [
            f"SIP/2.0 {answer.status} Told",
            *(f"Via: {via}" for via in request.vias),
            f"From: {request.headers['from']}",
            f"To: {to}",
            f"Call-ID: {request.headers['call-id']}",
            f"CSeq: {request.headers['cseq']}",
            f"Contact: <sip:trunk@127.0.0.1:{self.port}>",
            *filter(None, [answer.headers]),
            *(["Content-Type: application/sdp"] if body else []),
            f"Content-Length: {len(body)}",
        ]
        return "\r\n".join(lines) + f"\r\n\r\n{body}"

    def connection_lost(self, exc: Exception | None) -> None:
        self._closed.set()

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        if self._transport is not None:
            self._transport.close()
            await self._closed.wait()


def always(*answers: Answer) -> Script:
    """The same answers to every request."""
    return lambda _: answers


def challenged(user: str, password: str, *then: Answer) -> Script:
    """Wants the password for every request; then registers, and answers calls."""

    def script(request: Request) -> Sequence[Answer]:
        if not request.proves(user, password):
            return [Answer(401, headers=f'WWW-Authenticate: Digest realm="{REALM}", nonce="{NONCE}", algorithm=MD5')]
        return [Answer(200, headers="Expires: 600")] if request.method == "REGISTER" else then

    return script


@asynccontextmanager
async def plain_trunk(script: Script) -> AsyncGenerator[PlainTrunk]:
    """A trunk on a free port of the loopback interface."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
        silent.bind(("127.0.0.1", 0))
        loop = asyncio.get_running_loop()
        port = silent.getsockname()[1]
        _, trunk = await loop.create_datagram_endpoint(lambda: PlainTrunk(script, port), local_addr=("127.0.0.1", 0))
        try:
            yield trunk
        finally:
            await trunk.close()
