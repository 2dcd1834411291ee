"""A listener in a test: what it shows, look by look."""

import io
from dataclasses import dataclass, field

from rich.console import Console

from callwright.client import Client
from callwright.contract.webhooks import NewWebhook
from callwright.server.commands.events.forwarding import Forwarding
from callwright.server.commands.events.listen import Listener, ListenOptions

SECRET = "whsec_" + "aB3-_" * 8


@dataclass
class Terminal:
    """A listener whose lines are kept."""

    listener: Listener
    out: io.StringIO
    said: io.StringIO
    _read: int = field(default=0)

    async def lines(self) -> list[str]:
        """What one look shows, as words."""
        await self.listener.look()
        text = self.out.getvalue()
        found, self._read = text[self._read :], len(text)
        return [" ".join(line.split()) for line in found.splitlines()]


def terminal(
    client: Client,
    webhook: NewWebhook | None = None,
    *,
    everything: bool = False,
    secret: str | None = None,
    forwarding: Forwarding | None = None,
    as_json: bool = False,
) -> Terminal:
    out, said = io.StringIO(), io.StringIO()
    console, greeting = (Console(file=each, width=100, soft_wrap=True, highlight=False) for each in (out, said))
    asked = ListenOptions(None if webhook is None else webhook.id, None, secret, everything, as_json)
    return Terminal(Listener(client, console, greeting, webhook, asked, secret, forwarding), out, said)
