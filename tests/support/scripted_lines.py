"""Lines whose sound a scripted media process carries: see `scripted_media` for what each number does."""

import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio

from callwright.service.telephony.carriers.media_calls import always
from callwright.service.telephony.carriers.opening import Opening
from callwright.service.telephony.carriers.websocket import WebsocketCarrier
from callwright.service.telephony.lines.media_processes import MediaProcesses
from callwright.service.telephony.media.messages import SpeechServices
from tests.support import scripted_media
from tests.support.scripted_carrier import host_of
from tests.support.service import Tenant

COMMAND = (sys.executable, str(Path(scripted_media.__file__)))


async def _nobody(_: Opening) -> None:
    """The other side is in the script of the process."""


@asynccontextmanager
async def media_lines(tenant: Tenant) -> AsyncGenerator[None]:
    """Lines whose sound goes through a media process, until the block ends."""
    services, media = tenant.services, MediaProcesses(1, command=COMMAND)
    folder = services.recordings.lines.folder
    carrier = WebsocketCarrier("scripted", media, always(SpeechServices()), _nobody, recordings=folder)
    host = host_of(tenant, carrier, is_ready=media.has_room)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(media.run)
        tasks.start_soon(host.run)
        yield
        tasks.cancel_scope.cancel()
