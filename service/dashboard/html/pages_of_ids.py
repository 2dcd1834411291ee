"""Where the page of a thing is, by its id."""

from collections.abc import Mapping
from typing import Any

PAGES_OF_IDS: Mapping[str, str] = {
    "dep": "/campaigns/",
    "cal": "/calls/",
    "agt": "/agents/",
    "aud": "/audiences/",
    "num": "/numbers/",
    "evt": "/events/",
    "whk": "/webhooks/",
    "dnc": "/do-not-call/",
    "rev": "/reviews/",
    "ctc": "/calls?contact_id=",
    "row": "/calls?contact_id=",
    "per": "/audit?subject_id=",
}
"""By the beginning of its id."""
_KINDS = {
    "dep": "campaign",
    "cal": "call",
    "agt": "agent",
    "aud": "audience",
    "num": "number",
    "evt": "event",
    "whk": "webhook",
    "dnc": "do-not-call entry",
    "rev": "review",
    "usr": "user",
    "key": "API key",
    "top": "top-up",
}


def page_of_id(thing_id: str | None) -> str | None:
    """The address of the page of a thing; None where it has none."""
    begin = PAGES_OF_IDS.get((thing_id or "").partition("_")[0])
    return None if begin is None else f"{begin}{thing_id}"


def with_page(entry: Mapping[str, Any], thing_id: str | None) -> Mapping[str, Any]:
    """An entry of a list with what it is `about`, in words, and the `page` of that."""
    kind = _KINDS.get((thing_id or "").partition("_")[0])
    about = thing_id if kind is None else f"{kind} …{(thing_id or '')[-6:]}"
    return {**entry, "about": about, "page": page_of_id(thing_id)}
