"""Deletes recordings whose time is over: marks them as gone for good, then removes their files.

What a caller sees never waits for this (see `domain.recording_retention`). The mark comes first, so that no file that
was removed is ever made again. Files are found in this process's own folder, not by going through calls: so each of
many processes clears its own, one that was made while its call fell due is found at the next pass, and whatever ended a
pass early, the next one does it again.
"""

from callwright.service.services import Services
from callwright.service.tables import recording_watermarks

MOST_CALLS = 500
"""Calls of which one pass looks at the files; the next pass goes on behind them."""


async def run(services: Services) -> None:
    """One pass."""
    sure_ms = services.clock.sure_ms()
    if due := await services.database.read(recording_watermarks.due, sure_ms):
        await services.database.write(recording_watermarks.settle, due, sure_ms)
    held = await services.recordings.held(MOST_CALLS)
    if held:
        kept = await services.database.read(recording_watermarks.kept_among, held)
        await services.recordings.forget(set(held) - kept)
