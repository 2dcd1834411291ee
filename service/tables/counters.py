"""A deployment's counters. They are stored in its row and updated in the transactions that change its contacts."""

import json
from collections import Counter
from collections.abc import Iterable
from typing import Any, get_args

from sqlalchemy import Row

from callwright.contract.deployments.contacts import ContactStatus, Stats
from callwright.service.platform.json_text import json_text
from callwright.service.platform.money import money

REACHED, MACHINES = ("answered", "transferred"), ("voicemail", "voicemail_left")
"""Outcomes that count as answered, and as voicemail."""
CONTACT_COUNTERS = tuple(name for name in Stats.model_fields if name in get_args(ContactStatus))
"""The counters of contacts by their state."""


def stats_of(row: Row[Any]) -> Stats:
    """The counters in a deployment's row."""
    states = json.loads(row.states)
    return Stats(
        contacts=row.contacts,
        **{name: states.get(name, 0) for name in CONTACT_COUNTERS},
        attempts=row.attempts,
        answered=row.answered,
        voicemail=row.voicemails,
        outcomes=json.loads(row.outcomes),
        dispositions=json.loads(row.dispositions),
        last_outcomes=json.loads(row.last_outcomes),
        spend=money(row.spend_micros),
    )


def moved(counts_before: str, changes: Iterable[tuple[str | None, str | None]]) -> str:
    """The counters after contacts went from one name to another, as JSON. None is where no counter has them."""
    counts = Counter[str](json.loads(counts_before))
    for before, after in changes:
        if before is not None:
            counts[before] -= 1
        if after is not None:
            counts[after] += 1
    return json_text({name: count for name, count in counts.items() if count})


def added(counts: str, names: Iterable[str]) -> str:
    """Counters by name with one more for each name, as JSON."""
    return json_text(Counter[str](json.loads(counts)) + Counter(names))
