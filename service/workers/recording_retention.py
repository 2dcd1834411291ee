"""Deletes recordings whose time is over: marks them as gone for good, then removes their files.

What a caller sees never waits for this (`rules.recording_retention`). The mark comes first, so that no file that was
removed is made again. Each process looks through the files of its own folder; the next pass finds what this one missed.
"""

from callwright.service.services import Services
from callwright.service.tables import recording_watermarks

MOST_CALLS = 500
"""Calls of which one pass looks at the files; the next pass goes on behind them."""


async def run(services: Services) -> None:
    sure_ms = services.clock.sure_ms()
    if due := await services.database.read(recording_watermarks.due, sure_ms):
        await services.database.write(recording_watermarks.settle, due, sure_ms)
    held = await services.recordings.held(MOST_CALLS)
    if held:
        kept = await services.database.read(recording_watermarks.kept_among, held)
        await services.recordings.forget(set(held) - kept)
