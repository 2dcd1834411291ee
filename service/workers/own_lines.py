"""The lines of this process: its carriers, its media processes and its line host, as the settings say."""

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from functools import partial
from math import ceil
from typing import Any

import anyio
from anyio import to_thread

from callwright.service.dialling.heard_opt_outs import list_at_once
from callwright.service.dialling.rounds.undialled_calls import may_place
from callwright.service.inbound.live.inbound_router import InboundRouter
from callwright.service.inbound.live.live_calls import LiveCaller
from callwright.service.platform import secret_box
from callwright.service.platform.wake_signal import WakeSignal
from callwright.service.platform.worker_loop import repeat
from callwright.service.services import Services
from callwright.service.telephony.carriers.browser_calls import BrowserCalls
from callwright.service.telephony.carriers.sip import SipCarrier
from callwright.service.telephony.carriers.sip_callers import SipCaller, SipCallers
from callwright.service.telephony.carriers.sip_trunk import trunk_of_settings
from callwright.service.telephony.carriers.twilio.account import account_of
from callwright.service.telephony.carriers.twilio.api import TwilioApi
from callwright.service.telephony.carriers.twilio.carrier import TwilioCarrier
from callwright.service.telephony.carriers.twilio.media_places import MediaPlaces
from callwright.service.telephony.carriers.twilio.reports import TwilioReports
from callwright.service.telephony.carriers.websocket import WebsocketCarrier
from callwright.service.telephony.chosen_services import speech_services_of
from callwright.service.telephony.engine import CallRequest
from callwright.service.telephony.legs.carrier import Carrier
from callwright.service.telephony.legs.leg_tokens import hash_of
from callwright.service.telephony.lines.line_host import LineHost
from callwright.service.telephony.lines.media_processes import MediaProcesses
from callwright.service.telephony.media.messages import MOST_CALLS, SpeechServices
from callwright.service.telephony.registry import BROWSER, SIP, TWILIO
from callwright.service.workers import late_charges


@dataclass(frozen=True)
class OwnLines:
    """The lines of one process. `browser` has the pages that talk here, `places` where the sound of calls goes that a
    carrier brings."""

    host: LineHost
    browser: BrowserCalls
    places: MediaPlaces
    _media: MediaProcesses
    _is_warm: bool
    _beside: Sequence[Callable[[], Coroutine[Any, Any, None]]]
    """What works beside the calls."""

    async def run(self) -> None:
        """Carries calls until it is cancelled. Calls that are under way then end."""
        if self._is_warm:
            await to_thread.run_sync(secret_box.load)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(partial(self._media.run, is_warm=self._is_warm))
            for work in self._beside:
                tasks.start_soon(work)
            await self.host.run()


def own_lines(services: Services, owner: str, woken: WakeSignal) -> OwnLines:
    """The lines that the settings give to this process.

    Raises:
        ValueError: the SIP trunk of the settings is none; the text says what is wrong, without the password.
    """
    settings = services.settings
    lines = settings.lines

    async def services_of(call: CallRequest) -> SpeechServices:
        found = await services.database.read(speech_services_of, settings, call.org_id, call.agent)
        return found.services

    media = MediaProcesses(ceil(lines.count / MOST_CALLS))
    browser = BrowserCalls(woken)
    recordings = services.recordings.lines.folder
    carriers: dict[str, Carrier] = {
        BROWSER: WebsocketCarrier(BROWSER, media, services_of, browser.other_side, recordings=recordings)
    }
    callers: SipCallers | None = None
    if (trunk := trunk_of_settings(lines)) is not None:
        if trunk.inbound:
            given = (trunk, lines.sip_numbers, partial(_routed, InboundRouter(services)))
            callers = SipCallers(*given, has_room=lambda: host.has_room(), woken=woken)
            media.take_callers(callers.ingress)
        carriers[SIP] = SipCarrier(SIP, media, services_of, trunk, recordings=recordings, callers=callers)
    places, account = MediaPlaces(), account_of(lines, settings.public_url)
    if account is not None:
        reports = TwilioReports(services.database, services.clock)
        carriers[TWILIO] = TwilioCarrier(
            TWILIO, media, services_of, TwilioApi(account), places, reports, recordings=recordings
        )
    host = LineHost(
        services.database,
        services.clock,
        owner,
        carriers,
        lines=lines.count,
        may_place=may_place,
        heard=partial(list_at_once, services.ids),
        ready={SIP: media.has_room, TWILIO: media.has_room},
        chosen={BROWSER: browser.call_ids},
        callers=None if callers is None else callers.call_ids,
        woken=woken,
        host_url=None if account is None else account.lines_url,
    )
    name, every_s = "asking carriers what calls cost", late_charges.EVERY_S
    late = partial(late_charges.run, services, carriers)
    beside: list[Callable[[], Coroutine[Any, Any, None]]] = [
        partial(repeat, late, name, every_s=every_s, begins_after_s=every_s)
    ]
    if callers is not None:
        beside.append(callers.run)
    return OwnLines(host, browser, places, media, carriers.keys() != {BROWSER}, beside)


async def _routed(router: InboundRouter, caller: SipCaller) -> str | None:
    """The call of somebody who calls over SIP; None if they are refused."""
    known = hash_of(caller.provider_call_id)  # no page or carrier shows it: it says that the leg has its host
    routed = await router.route(
        LiveCaller(SIP, caller.to, caller.from_, caller.provider_call_id, known, caller.has_line)
    )
    return None if routed.is_refused else routed.call_id
