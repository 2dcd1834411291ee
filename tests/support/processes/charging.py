"""A process that asks Twilio what calls cost and books it, for tests that kill it meanwhile.

    python -m tests.support.processes.charging DATABASE_URL DATA_FOLDER API_BASE LIMIT_S

Prints `ready` once it begins. All charges are due then, as if the pause after the question before were over. Ends by
itself when no charge is awaited any more.
"""

import os
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
from anyio import to_thread
from sqlalchemy import Connection, func, select, update

from callwright.service.app import running
from callwright.service.services import Services
from callwright.service.settings import ServiceSettings
from callwright.service.tables.schema import awaited_charges
from callwright.service.telephony.carriers.media_calls import always
from callwright.service.telephony.carriers.twilio.account import TwilioAccount
from callwright.service.telephony.carriers.twilio.api import TwilioApi
from callwright.service.telephony.carriers.twilio.carrier import TwilioCarrier
from callwright.service.telephony.carriers.twilio.media_places import MediaPlaces
from callwright.service.telephony.carriers.twilio.reports import TwilioReports
from callwright.service.telephony.lines.media_processes import MediaProcesses
from callwright.service.telephony.media.messages import SpeechServices
from callwright.service.workers import late_charges
from tests.support.processes.forked_commands import ForkedCommand
from tests.support.twilio.account import SID, TOKEN

CARRIER = "scripted"
"""The carrier by which the calls were made."""
LIMIT_S = 60


@asynccontextmanager
async def charging_process(
    database_url: str, data: Path, api_base: str, *, limit_s: int = LIMIT_S
) -> AsyncGenerator[ForkedCommand]:
    """The process, about to ask. It is gone when the block ends."""
    command = ["-m", "tests.support.processes.charging", database_url, str(data), api_base, str(limit_s)]
    process = ForkedCommand(command, env=os.environ, stdout=subprocess.PIPE, stderr=2)
    assert process.stdout is not None
    try:
        assert await to_thread.run_sync(process.stdout.readline) == b"ready\n"
        yield process
    finally:
        process.kill()
        process.wait(60)
        process.stdout.close()


def awaited(connection: Connection) -> int:
    """How many charges are awaited."""
    return connection.execute(select(func.count()).select_from(awaited_charges)).scalar_one()


def due_now(connection: Connection) -> None:
    """Every charge is due."""
    connection.execute(update(awaited_charges).values(next_at=0))


def _twilio(services: Services, api_base: str) -> TwilioCarrier:
    account = TwilioAccount(SID, TOKEN, "http://127.0.0.1", "http://127.0.0.1", api_base)
    return TwilioCarrier(
        CARRIER,
        MediaProcesses(1),
        always(SpeechServices()),
        TwilioApi(account),
        MediaPlaces(),
        TwilioReports(services.database, services.clock),
    )


async def main(database_url: str, data: Path, api_base: str, limit_s: int) -> None:
    """Asks until nothing is awaited."""
    settings = ServiceSettings(data=data, database_url=database_url)
    with anyio.fail_after(limit_s):
        async with running(settings, workers=False) as service:
            services, database = service.services, service.services.database
            carriers = {CARRIER: _twilio(services, api_base)}
            sys.stdout.write("ready\n")
            sys.stdout.flush()
            while await database.read(awaited):
                await database.write(due_now)
                await late_charges.run(services, carriers)


if __name__ == "__main__":
    anyio.run(main, sys.argv[1], Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]))
