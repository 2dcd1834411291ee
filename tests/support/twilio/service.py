"""A service that calls through the imitation of Twilio, and answers its requests over HTTP."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from callwright.contract.checks.address_ranges import LOOPBACK
from callwright.server.embedded.embedded import address_of, listener_on, listening
from callwright.service.settings import LineSettings, ServiceSettings, SpeechSettings
from tests.support.service import Tenant, open_service
from tests.support.twilio.account import SID, TOKEN
from tests.support.twilio.imitation import Twilio


@asynccontextmanager
async def calling_through(
    twilio: Twilio,
    database_url: str,
    data: Path,
    *,
    speech: SpeechSettings | None = None,
    lines: int = 4,
    workers: bool = True,
    prices: Path | None = None,
) -> AsyncGenerator[Tenant]:
    """The service, at the address that Twilio is given."""
    with listener_on() as listener:
        root = address_of(listener).removesuffix("/v1")
        settings = ServiceSettings(
            data=data,
            database_url=database_url,
            webhook_networks=LOOPBACK,
            public_url=root,
            prices_file=prices,
            lines=LineSettings(
                count=lines,
                twilio_account_sid=SID,
                twilio_auth_token=TOKEN,
                twilio_api_base=twilio.url,
            ),
            speech=speech or SpeechSettings(),
        )
        async with open_service(database_url, data, settings=settings, workers=workers) as tenant:
            async with listening(tenant.service.asgi, listener):
                yield tenant
