"""Follows the log of events and their deliveries to one subscription, by polling.

The log is sorted by `created_at`, which on the simulated network runs ahead of the machine's clock: a new event may
stand far behind others that are older. So the entries are counted, and the list is walked until none is missing.
"""

from collections.abc import Callable
from datetime import datetime, timedelta

from callwright.client import Client
from callwright.contract.event_log import Event
from callwright.contract.events import EVERY, WEBHOOK_DISABLED, WEBHOOK_TEST
from callwright.contract.webhooks import Delivery, Webhook

BEFORE = timedelta(minutes=10)
"""How much earlier than all there is a new event may have happened: it is written when its call has ended, or later."""
MOST_AWAITED = 2_000
"""Events whose delivery is watched at a time; of more, the latest."""
MOST_PAGES = 5
"""Pages of the latest deliveries that one look reads."""


class NewEvents:
    """The events that are written from `begin` on, each once."""

    def __init__(self, client: Client, now: Callable[[], datetime]) -> None:
        self._client, self._now = client, now
        self._since: datetime | None = None
        self._seen: set[str] = set()

    async def begin(self) -> None:
        """Remembers what is there already. Raises `CallwrightError`."""
        latest = (await self._client.events.list(per_page=1)).data
        if latest:
            self._since = min(self._now(), datetime.fromisoformat(latest[0].created_at)) - BEFORE
        await self.take()

    async def take(self) -> list[Event]:
        """What is new since the last time, oldest first. Raises `CallwrightError`, and then has taken nothing."""
        found: dict[str, Event] = {}
        async for page in self._client.events.list(created_from=self._since).pages():
            found.update((event.id, event) for event in page.data if event.id not in self._seen)
            if len(self._seen) + len(found) >= page.pagination.total:
                break
        self._seen.update(found)
        return sorted(found.values(), key=lambda event: (event.created_at, event.id))


class Deliveries:
    """The deliveries of events to one subscription."""

    def __init__(self, client: Client, webhook_id: str) -> None:
        self._client, self._webhook_id = client, webhook_id
        self._awaited: dict[str, Event] = {}
        self._told: dict[str, tuple[str, int]] = {}

    def watch(self, event: Event) -> None:
        """Watches the delivery of an event until it is over."""
        self._awaited[event.id] = event
        while len(self._awaited) > MOST_AWAITED:
            self._forget(next(iter(self._awaited)))

    def _forget(self, event_id: str) -> None:
        self._awaited.pop(event_id, None)
        self._told.pop(event_id, None)

    async def moved(self) -> list[tuple[Event, Delivery]]:
        """Deliveries that were attempted or ended and were not `told` yet, oldest first. Raises `CallwrightError`."""
        if not self._awaited:
            return []
        latest: dict[str, Delivery] = {}
        pages = 0
        async for page in self._client.webhooks.list_deliveries(id=self._webhook_id).pages():
            pages += 1
            for delivery in page.data:
                if delivery.event_id in self._awaited:
                    latest.setdefault(delivery.event_id, delivery)
            if len(latest) == len(self._awaited) or pages == MOST_PAGES:
                break
        return [(self._awaited[one.event_id], one) for one in reversed(latest.values()) if self._has_moved(one)]

    def _has_moved(self, delivery: Delivery) -> bool:
        return (delivery.status, delivery.attempt_count) != self._told.get(delivery.event_id, ("pending", 0))

    def told(self, delivery: Delivery) -> None:
        """What is known of a delivery now was shown; nothing more comes of one that is over."""
        self._told[delivery.event_id] = (delivery.status, delivery.attempt_count)
        if delivery.status != "pending":
            self._forget(delivery.event_id)


def wants(webhook: Webhook, event: Event) -> bool:
    """Whether the service sends an event to a subscription. A test goes to the tested one alone."""
    if event.type == WEBHOOK_TEST.name:
        return event.subject_id == webhook.id
    if event.type == WEBHOOK_DISABLED.name and event.subject_id == webhook.id:
        return False
    return EVERY in webhook.events or event.type in webhook.events
