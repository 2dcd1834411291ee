"""The lines of this process: its carriers, its media processes and its line host, as the settings say."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from math import ceil

import anyio

from callwright.service.dialling.rounds.undialled_calls import may_place
from callwright.service.platform.wake_signal import WakeSignal
from callwright.service.services import Services
from callwright.service.telephony.carriers.browser_calls import BrowserCalls
from callwright.service.telephony.carriers.websocket import WebsocketCarrier
from callwright.service.telephony.legs.carrier import Carrier
from callwright.service.telephony.lines.availability import why_no_lines
from callwright.service.telephony.lines.line_host import LineHost
from callwright.service.telephony.lines.media_processes import MediaProcesses
from callwright.service.telephony.media.messages import MOST_CALLS, SpeechServices
from callwright.service.telephony.registry import BROWSER


@dataclass(frozen=True)
class OwnLines:
    """The lines of one process. `browser` has the pages that talk here."""

    host: LineHost
    browser: BrowserCalls
    _media: MediaProcesses
    _warm: int

    async def run(self) -> None:
        """Carries calls until it is cancelled. Calls that are under way then end."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(partial(self._media.run, self._warm))
            await self.host.run()


def own_lines(services: Services, owner: str, woken: WakeSignal) -> OwnLines | None:
    """The lines that the settings give to this process; None if it carries no calls."""
    settings = services.settings
    count = settings.lines.count
    if why_no_lines(count) is not None:
        return None
    media = MediaProcesses(ceil(count / MOST_CALLS))
    browser = BrowserCalls(woken)
    recordings = services.recordings.lines.folder
    carriers: Mapping[str, Carrier] = {
        BROWSER: WebsocketCarrier(BROWSER, media, SpeechServices(), browser.other_side, recordings=recordings)
    }
    host = LineHost(
        services.database,
        services.clock,
        owner,
        carriers,
        lines=count,
        may_place=may_place,
        chosen={BROWSER: browser.call_ids},
        woken=woken,
    )
    return OwnLines(host, browser, media, 0 if set(carriers) == {BROWSER} else 1)
