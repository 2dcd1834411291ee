"""A switch of tests: a stateless SIP proxy over UDP (RFC 3261, 16.11) that knows at which telephone each number is.

It passes on what begins a call; telephones send the rest to each other, unless the switch is to lose some of it.
"""

import asyncio
import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import cast

from callwright.service.telephony.carriers.sip_trunk import SipTrunk

_USER = re.compile(r"^[A-Z]+ sip:([^@;>]+)@")
_BRANCH = re.compile(r"branch=([^;,\s]+)")
_ADDRESS = re.compile(r"^[A-Z]+ sip:(?:[^@;>]+@)?127\.0\.0\.1:([0-9]+)")
_SENT_BY = re.compile(r"SIP/2\.0/UDP ([0-9.]+):([0-9]+)")


class Switch(asyncio.DatagramProtocol):
    """Passes requests on to the port of the number that is called. A number that it does not know does not exist."""

    def __init__(self, ports: Mapping[str, int], loses: str | None = None) -> None:
        self.ports = dict(ports)
        self._loses = loses
        self.passed: list[tuple[str, str]] = []
        """Method and number of what was passed on, each as often as it came."""
        self._transport: asyncio.DatagramTransport | None = None
        self.port = 0

    @property
    def trunk(self) -> SipTrunk:
        return SipTrunk("127.0.0.1", self.port)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.DatagramTransport", transport)
        self.port = transport.get_extra_info("sockname")[1]

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        text = data.decode()
        head, _, body = text.partition("\r\n\r\n")
        first, *lines = head.split("\r\n")
        if first.startswith("SIP/2.0 "):
            self._back(first, lines, body)
        elif " " in first:
            self._on(first, lines, body, addr)

    def _on(self, first: str, lines: list[str], body: str, addr: tuple[str, int]) -> None:
        user = _USER.match(first)
        number = user[1].replace("%2B", "+") if user else ""
        method = first.partition(" ")[0]
        self.passed.append((method, number))
        if method == self._loses:
            return
        at = next(index for index, line in enumerate(lines) if line.lower().startswith("via:"))
        port = self._port(first, number, lines)
        if port is None:
            if method != "ACK":
                self._refuse(lines, addr)
            return
        lines[at] = f"{lines[at]};received={addr[0]};rport={addr[1]}".replace(";rport;", ";")
        branch = _BRANCH.search(lines[at])
        own = f"Via: SIP/2.0/UDP 127.0.0.1:{self.port};branch={branch[1] if branch else 'z9hG4bK0'}.switch"
        self._send(first, [*lines[:at], own, *lines[at:]], body, ("127.0.0.1", port))

    def _port(self, first: str, number: str, lines: list[str]) -> int | None:
        """Where a request goes. If some are to be lost, all requests of a call come here (RFC 3261, 16.6)."""
        if self._loses is None:
            return self.ports.get(number)
        route = next((index for index, line in enumerate(lines) if line.lower().startswith("route:")), None)
        if route is None:
            lines.append(f"Record-Route: <sip:127.0.0.1:{self.port};lr>")
            return self.ports.get(number)
        del lines[route]
        found = _ADDRESS.match(first)
        return int(found[1]) if found else None

    def _back(self, first: str, lines: list[str], body: str) -> None:
        vias = [index for index, line in enumerate(lines) if line.lower().startswith("via:")]
        if len(vias) < 2:
            return
        before = lines[vias[1]]
        to = re.search(r"rport=([0-9]+)", before)
        sent_by = _SENT_BY.search(before)
        port = int(to[1]) if to else int(sent_by[2]) if sent_by else 0
        del lines[vias[0]]
        self._send(first, lines, body, ("127.0.0.1", port))

    def _refuse(self, lines: list[str], addr: tuple[str, int]) -> None:
        kept = [line for line in lines if line.lower().startswith(("via:", "from:", "call-id:", "cseq:"))]
        to = next(line for line in lines if line.lower().startswith("to:"))
        self._send("SIP/2.0 404 Not Found", [*kept, f"{to};tag=none", "Content-Length: 0"], "", addr)

    def _send(self, first: str, lines: list[str], body: str, addr: tuple[str, int]) -> None:
        if self._transport is not None:
            self._transport.sendto("\r\n".join([first, *lines, "", body]).encode(), addr)


@asynccontextmanager
async def switch(ports: Mapping[str, int], *, loses: str | None = None) -> AsyncGenerator[Switch]:
    """A switch on a free port of the loopback interface. It loses requests of a kind."""
    loop = asyncio.get_running_loop()
    transport, made = await loop.create_datagram_endpoint(lambda: Switch(ports, loses), local_addr=("127.0.0.1", 0))
    try:
        yield made
    finally:
        transport.close()
