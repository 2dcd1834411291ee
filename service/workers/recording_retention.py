"""Deletes recordings whose retention is over: moves the watermark, then removes their files.

API answers do not wait for this (`rules.recording_retention`). The watermark comes first, so that no removed file is
made again. Each process checks the files of its own folder; the next pass finds what this one missed.
"""

from callwright.service.services import Services
from callwright.service.tables import recording_watermarks

MOST_CALLS = 2_000
"""The most calls whose files one pass checks; the next pass continues after them."""


async def run(services: Services) -> None:
    confirmed_now_ms = services.clock.confirmed_now_ms()
    if due := await services.database.read(recording_watermarks.due, confirmed_now_ms):
        await services.database.write(recording_watermarks.settle, due, confirmed_now_ms)
    held = await services.recordings.held(MOST_CALLS)
    if held:
        kept = await services.database.read(recording_watermarks.kept_among, held)
        await services.recordings.forget(set(held) - kept)
