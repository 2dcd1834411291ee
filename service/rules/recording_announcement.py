"""Whether the agent says that its calls are recorded."""

from callwright.contract.deployments.dialling import Recording


def announces(settings: Recording, needs_announcement: bool) -> bool:
    """Whether it says so, never where nothing is recorded. `needs_announcement`: the rules of the region ask for it."""
    if not settings.enabled or settings.announcement == "never":
        return False
    return settings.announcement == "always" or needs_announcement
