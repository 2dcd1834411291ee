"""`client.events`."""

from callwright.client.nouns.method import Noun, listing, method
from callwright.contract import event_log


class Events(Noun):
    """Events: the log of what happened in the last 30 days, and to whom it was sent."""

    list = listing(event_log.list_events)
    get = method(event_log.get_event)
    list_deliveries = listing(event_log.list_event_deliveries)
    explain = method(event_log.explain_event)
    replay = method(event_log.replay_event)
