"""The check of `callwright doctor` on the SIP trunk: whether anything answers there, without a call or a login.

A trunk over TCP or TLS takes a connection. Over UDP there is none, so the trunk is asked what it can do (SIP OPTIONS);
any answer shows that a SIP program is there, and trunks may leave the question of a stranger unanswered.
"""

import re
import secrets
import socket
from contextlib import closing, suppress
from dataclasses import dataclass
from typing import Literal

from anyio import connect_tcp, fail_after, getaddrinfo, move_on_after, wait_readable

from callwright.service.telephony.carriers.sip_trunk import SipTrunk

LIMIT_S = 10.0
ANSWERS_WITHIN_S = 3.0
_AGAIN_S = 0.5
"""Seconds until the question is sent again, as a datagram may be lost."""
_PORTS = {"udp": 5060, "tcp": 5060, "tls": 5061}
_LONGEST = 65_536
_STATUS = re.compile(rb"SIP/2\.0 ([1-6][0-9]{2}) ")


@dataclass(frozen=True)
class Reached:
    """What came of it: `state` as that of a check, `said` goes on from the address."""

    state: Literal["good", "note", "bad"]
    said: str
    help: str = ""


_CHECK = "Check host, port and transport."
_SILENT = Reached(
    "note",
    f"nothing answered SIP OPTIONS within {ANSWERS_WITHIN_S:g} s",
    "Some trunks answer no stranger. If calls end unconfirmed, check host, port and the firewall.",
)


async def reach(trunk: SipTrunk) -> Reached:
    """Whether something answers at the trunk's address. Waits ten seconds at most."""
    host, port = trunk.host.strip("[]"), trunk.port or _PORTS[trunk.transport]
    try:
        with fail_after(LIMIT_S):
            if trunk.transport == "udp":
                return await _asked(host, port)
            async with await connect_tcp(host, port):
                return Reached("good", "it takes connections")
    except (OSError, TimeoutError):
        lack = "nothing listens there" if trunk.transport == "udp" else "no connection could be made"
        return Reached("bad", lack, _CHECK)


async def _asked(host: str, port: int) -> Reached:
    family, kind, protocol, _, place = (await getaddrinfo(host, port, type=socket.SOCK_DGRAM))[0]
    # The system's own socket: it says that nothing listens, where that is known.
    with closing(socket.socket(family, kind, protocol)) as asking:
        asking.setblocking(False)
        asking.connect(place)
        own_host, own_port = asking.getsockname()[:2]
        question = _options(host, port, own_host, own_port)
        with move_on_after(ANSWERS_WITHIN_S):
            while True:
                asking.send(question)
                with move_on_after(_AGAIN_S):
                    while (found := _STATUS.match(await _received(asking))) is None:
                        pass
                    return Reached("good", f"something answers there (SIP OPTIONS: {found[1].decode()})")
    return _SILENT


async def _received(asking: socket.socket) -> bytes:
    while True:
        await wait_readable(asking)
        with suppress(BlockingIOError):  # a datagram with a wrong checksum wakes, and is dropped
            return asking.recv(_LONGEST)


def _options(host: str, port: int, own_host: str, own_port: int) -> bytes:
    """A request that rings nothing and logs in nowhere (RFC 3261, section 11)."""
    there, here = (f"[{name}]" if ":" in name else name for name in (host, own_host))
    word = secrets.token_hex(8)
    lines = (
        f"OPTIONS sip:{there}:{port} SIP/2.0",
        f"Via: SIP/2.0/UDP {here}:{own_port};rport;branch=z9hG4bK{word}",
        "Max-Forwards: 70",
        f"From: <sip:callwright@{here}>;tag={word}",
        f"To: <sip:{there}>",
        f"Call-ID: {word}",
        "CSeq: 1 OPTIONS",
        f"Contact: <sip:callwright@{here}:{own_port}>",
        "Accept: application/sdp",
        "Content-Length: 0",
    )
    return "".join(f"{line}\r\n" for line in (*lines, "")).encode()
