"""Follows the event log and the deliveries to one subscription, by polling.

The log is sorted by `created_at`, which on the simulated network runs ahead of the machine's clock, so a new event may
be older than others in the log. So entries are counted, and the list is read until none is missing.
"""

from collections.abc import Callable
from datetime import datetime, timedelta

from callwright.client import Client
from callwright.contract.event_log import Event
from callwright.contract.events import EVERY, WEBHOOK_DISABLED, WEBHOOK_TEST
from callwright.contract.webhooks import Delivery, Webhook

BEFORE = timedelta(minutes=10)
"""How much older than all others a new event may be: it is written when its call has ended, or later."""
MOST_AWAITED = 2_000
"""The most events whose delivery is watched at a time, the newest."""
MOST_PAGES = 5
"""The most pages of the latest deliveries that one poll reads."""


class NewEvents:
    """The events that are written after `begin`, each once."""

    def __init__(self, client: Client, now: Callable[[], datetime]) -> None:
        self._client, self._now = client, now
        self._since: datetime | None = None
        self._seen: set[str] = set()

    async def begin(self) -> None:
        """Records the existing events. Raises `CallwrightError`."""
        latest = (await self._client.events.list(per_page=1)).data
        if latest:
            self._since = min(self._now(), datetime.fromisoformat(latest[0].created_at)) - BEFORE
        await self.take()

    async def take(self) -> list[Event]:
        """The new events since the last call, oldest first. Raises `CallwrightError`, and then none are lost."""
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
        """Watches the delivery of an event until it has ended."""
        self._awaited[event.id] = event
        while len(self._awaited) > MOST_AWAITED:
            self._forget(next(iter(self._awaited)))

    def _forget(self, event_id: str) -> None:
        self._awaited.pop(event_id, None)
        self._told.pop(event_id, None)

    async def moved(self) -> list[tuple[Event, Delivery]]:
        """Deliveries that were attempted or ended since they were `told`, oldest first. Raises `CallwrightError`."""
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
        """Notes that the present state of a delivery was shown. One that has ended is no longer watched."""
        self._told[delivery.event_id] = (delivery.status, delivery.attempt_count)
        if delivery.status != "pending":
            self._forget(delivery.event_id)


def wants(webhook: Webhook, event: Event) -> bool:
    """Whether the service sends an event to a subscription. A test event goes only to the tested one."""
    if event.type == WEBHOOK_TEST.name:
        return event.subject_id == webhook.id
    if event.type == WEBHOOK_DISABLED.name and event.subject_id == webhook.id:
        return False
    return EVERY in webhook.events or event.type in webhook.events
