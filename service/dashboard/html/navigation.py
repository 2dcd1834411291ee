"""Which pages every page leads to, under which heading."""

from dataclasses import dataclass


@dataclass(frozen=True)
class NavigationGroup:
    """Pages under one heading: each with its address and its name."""

    heading: str
    entries: tuple[tuple[str, str], ...]


NAVIGATION = (
    NavigationGroup(
        "Calling",
        (
            ("/campaigns", "Campaigns"),
            ("/calls", "Calls"),
            ("/calls/live", "Calls under way"),
            ("/calls/results", "Results"),
            ("/calls/said", "Search what was said"),
            ("/agents", "Agents"),
            ("/audiences", "Audiences"),
            ("/numbers", "Numbers"),
            ("/confirmations", "Waiting for your yes"),
        ),
    ),
    NavigationGroup(
        "Rules",
        (
            ("/do-not-call", "Do not call"),
            ("/reviews", "Reviews"),
            ("/audit", "Audit log"),
        ),
    ),
    NavigationGroup(
        "Programs",
        (
            ("/events", "Events"),
            ("/webhooks", "Webhooks"),
            ("/settings/api-keys", "API keys"),
        ),
    ),
    NavigationGroup(
        "Organization",
        (("/wallet", "Wallet"), ("/settings/usage", "Usage"), ("/settings/people", "People")),
    ),
)
PAGES = tuple(entry for group in NAVIGATION for entry in group.entries)
"""All of them, with their names."""
