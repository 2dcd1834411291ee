"""`callwright listen`: prints events as they happen, and forwards them to an endpoint on this machine on request."""

import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

import anyio
from rich.console import Console
from rich.text import Text

from callwright.client import CallwrightError, Client
from callwright.contract.checks.counts import count_of
from callwright.contract.event_log import Event
from callwright.contract.webhooks import Delivery, Webhook
from callwright.server.commands.command_error import CommandError
from callwright.server.commands.events.following import Deliveries, NewEvents, wants
from callwright.server.commands.events.forwarding import (
    EndpointAnswer,
    Forwarding,
    checked_secret,
    local_url,
    new_secret,
    signatures_checked,
)
from callwright.server.commands.events.lines import delivery_line, ending_of, event_line, plain
from callwright.server.commands.output.json_text import json_text
from callwright.server.commands.signals import stop_signals
from callwright.server.embedded.embedded import embedded, remote
from callwright.server.settings import ProgramSettings

PAUSE_S = 0.5
"""Pause between two polls of a service on this machine."""
PAUSE_ELSEWHERE_S = 1.0
LONGEST_PAUSE_S = 10.0
"""The longest pause between two tries while the service does not answer."""
AT_ONCE = 8
"""The most events that are sent to the endpoint at a time."""


@dataclass(frozen=True)
class ListenOptions:
    """The arguments of the command."""

    webhook_id: str | None = None
    forward: str | None = None
    secret: str | None = None
    everything: bool = False
    as_json: bool = False


async def run(settings: ProgramSettings, asked: ListenOptions) -> None:
    """Listens until stopped (Ctrl-C or SIGTERM). Raises `CommandError`, `CallwrightError`."""
    url, secret, made = _endpoint(asked)
    said = Console(stderr=True, highlight=False, soft_wrap=True)
    with stop_signals() as told_to_stop:
        async with AsyncExitStack() as stack:
            opened = embedded(settings, lambda _: None) if settings.base_url is None else remote(settings)
            client = await stack.enter_async_context(opened)
            webhook = None if asked.webhook_id is None else await client.webhooks.get(id=asked.webhook_id)
            forwarding = None
            if url is not None and secret is not None:
                forwarding = Forwarding(url, secret, lambda: round(time.time() * 1_000))
                stack.push_async_callback(forwarding.close)
            listener = Listener(
                client, Console(highlight=False, soft_wrap=True), said, webhook, asked, secret, forwarding
            )
            await listener.begin()
            _greet(said, settings, webhook, url, secret if made else None)
            async with anyio.create_task_group() as tasks:
                pause_s = PAUSE_S if settings.base_url is None else PAUSE_ELSEWHERE_S
                tasks.start_soon(listener.keep_listening, pause_s)
                await told_to_stop()
                tasks.cancel_scope.cancel()
    said.print(f"{count_of(listener.count, 'event')}.")


def _endpoint(asked: ListenOptions) -> tuple[str | None, str | None, bool]:
    """The local endpoint, the secret, and whether the secret was created here."""
    url = None if asked.forward is None else local_url(asked.forward)
    if asked.everything and asked.webhook_id is None:
        raise CommandError("--all shows what a subscription does not want too: name a subscription, or leave --all out")
    if asked.secret is None:
        return url, None if url is None else new_secret(), url is not None
    if url is None and asked.webhook_id is None:
        raise CommandError("--secret is for --forward, or for checking the deliveries of a subscription: name one")
    return url, checked_secret(asked.secret), False


def _greet(
    said: Console, settings: ProgramSettings, webhook: Webhook | None, url: str | None, made: str | None
) -> None:
    where = settings.base_url or f"the service in {settings.data}"
    said.print(Text.assemble(("Listening", "bold green"), f" to the events of {where}. Ctrl-C ends it."))
    if webhook is not None:
        wanted = "all events" if "*" in webhook.events else ", ".join(webhook.events)
        said.print(Text(f"  subscription  {webhook.id} ({webhook.status}): {plain(wanted, 200)}"))
    if url is not None:
        said.print(Text(f"  forwards to   {url}"))
    if made is not None:
        said.print(Text(f"  signed with   {made}, made for this session"))


class Listener:
    """Shows events and their deliveries. `count` is how many events were shown."""

    def __init__(
        self,
        client: Client,
        console: Console,
        said: Console,
        webhook: Webhook | None,
        asked: ListenOptions,
        secret: str | None = None,
        forwarding: Forwarding | None = None,
    ) -> None:
        self.count = 0
        self._client, self._console, self._said = client, console, said
        self._webhook, self._everything, self._as_json = webhook, asked.everything, asked.as_json
        self._secret, self._forwarding = secret, forwarding
        self._events = NewEvents(client, lambda: datetime.now(UTC))
        self._deliveries = None if webhook is None else Deliveries(client, webhook.id)

    async def begin(self) -> None:
        """Only later events are shown. Raises `CallwrightError`."""
        await self._events.begin()

    async def keep_listening(
        self, pause_s: float, *, sleep: Callable[[float], Awaitable[object]] = anyio.sleep
    ) -> None:
        """Polls continuously, and retries if the service does not answer. Raises `CallwrightError` for other errors."""
        wait_s = pause_s
        while True:
            try:
                await self.look()
                wait_s = pause_s
            except CallwrightError as error:
                if not error.retryable:
                    raise
                if wait_s == pause_s:
                    self._said.print(Text(f"{plain(str(error), 200)}; trying again", "yellow"))
                wait_s = min(wait_s * 2, LONGEST_PAUSE_S)
            await sleep(wait_s)

    async def look(self) -> None:
        """Shows what is new. Raises `CallwrightError`; events that were shown are not shown again."""
        found = [(event, self._wants(event)) for event in await self._events.take()]
        shown = [event for event, wanted in found if wanted or self._everything]
        if self._deliveries is not None:
            for event, wanted in found:
                if wanted:
                    self._deliveries.watch(event)
        if self._forwarding is None:
            for event in shown:
                self._show(event)
        else:
            await self._forward(self._forwarding, shown)
        if self._deliveries is not None:
            for event, delivery in await self._deliveries.moved():
                await self._tell(event, delivery)
                self._deliveries.told(delivery)

    def _wants(self, event: Event) -> bool:
        return self._webhook is None or wants(self._webhook, event)

    def _show(self, event: Event, answered: EndpointAnswer | None = None) -> None:
        self.count += 1
        if self._as_json:
            forwarded = {} if answered is None else {"forwarded": asdict(answered)}
            self._console.out(json_text({**event.model_dump(mode="json"), **forwarded}, indent=None))
        else:
            self._console.print(event_line(event, None if answered is None else ending_of(answered)))

    async def _forward(self, forwarding: Forwarding, events: list[Event]) -> None:
        places = anyio.Semaphore(AT_ONCE)

        async def one(event: Event) -> None:
            async with places:
                answered = await forwarding.post(event)
            self._show(event, answered)

        async with anyio.create_task_group() as tasks:
            for event in events:
                tasks.start_soon(one, event)

    async def _tell(self, event: Event, delivery: Delivery) -> None:
        checked = None
        if self._secret is not None and self._forwarding is None and delivery.attempt_count:
            found = await self._client.webhooks.get_delivery(id=delivery.webhook_id, delivery_id=delivery.id)
            checked = signatures_checked(event, found.attempts, self._secret)
        if self._as_json:
            told = {"delivery": delivery.model_dump(mode="json"), "signature": checked}
            self._console.out(json_text(told, indent=None))
        else:
            self._console.print(delivery_line(event, delivery, checked))
