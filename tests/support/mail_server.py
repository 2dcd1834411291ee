"""A mail server on the loopback: it keeps what it is given, with TLS from the first byte, STARTTLS, or none."""

import asyncio
import ssl
from base64 import b64decode
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import SMTP

from callwright.service.settings import MailSettings
from tests.support.http.stream_servers import stream_server

SENDER = "callwright@example.com"


@dataclass
class MailServer:
    """What the server was given, and how it answers."""

    port: int = 0
    refuses: bool = False
    """Whether it refuses every recipient."""
    refusal: str = "550 nobody"
    silent_at: bytes = b""
    """The command that it does not answer."""
    recipients: list[str] = field(default_factory=list[str])
    messages: list[EmailMessage] = field(default_factory=list[EmailMessage])
    logins: list[str] = field(default_factory=list[str])
    in_the_clear: list[bytes] = field(default_factory=list[bytes])
    """The commands that came before TLS began."""

    @property
    def settings(self) -> MailSettings:
        """The settings with which a service sends here, in the clear."""
        return MailSettings(host="127.0.0.1", port=self.port, security="none", sender=SENDER)

    def text(self) -> str:
        """The text of the newest mail."""
        return self.messages[-1].get_content()


@asynccontextmanager
async def mail_server(
    *, tls: ssl.SSLContext | None = None, starttls: ssl.SSLContext | None = None
) -> AsyncGenerator[MailServer]:
    """A mail server inside the block."""
    kept = MailServer()

    async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await _conversation(kept, reader, writer, starttls, is_secure=tls is not None)

    async with stream_server(converse, tls=tls) as port:
        kept.port = port
        yield kept


async def _conversation(
    kept: MailServer,
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    starttls: ssl.SSLContext | None,
    *,
    is_secure: bool,
) -> None:
    async def say(*lines: str) -> None:
        writer.write("".join(f"{line}\r\n" for line in lines).encode())
        await writer.drain()

    await say("220 loopback")
    while line := await reader.readline():
        if not is_secure:
            kept.in_the_clear.append(line.strip())
        verb = line[:4].upper()
        if verb == kept.silent_at:
            continue
        if verb == b"EHLO":
            await say("250-loopback", *(["250-STARTTLS"] if starttls and not is_secure else []), "250 AUTH PLAIN")
        elif verb == b"STAR" and starttls is not None:
            await say("220 go on")
            await writer.start_tls(starttls)
            is_secure = True
        elif verb == b"AUTH":
            kept.logins.append(b64decode(line.split()[2]).decode())
            await say("235 known")
        elif verb == b"RCPT":
            if kept.refuses:
                await say(kept.refusal)
                continue
            kept.recipients.append(line.decode().partition("<")[2].partition(">")[0])
            await say("250 good")
        elif verb == b"DATA":
            await say("354 go on")
            text = await reader.readuntil(b"\r\n.\r\n")
            found = message_from_bytes(text[:-3].replace(b"\r\n..", b"\r\n."), policy=SMTP)
            assert isinstance(found, EmailMessage)
            kept.messages.append(found)
            await say("250 kept")
        elif verb == b"QUIT":
            await say("221 bye")
            return
        else:
            await say("250 good")
