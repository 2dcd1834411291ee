"""The imitation of Twilio as a carrier that loses one answer in ten after placing a call, and the service that it asks
back. As a process, `python -m tests.lost_answers.twilio <seed>` is the imitation, and prints its port.
"""

import sys
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import cast

import anyio
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from callwright.server.embedded.embedded import address_of, listener_on, listening
from callwright.service.app import running
from callwright.service.settings import LineSettings, ServiceSettings
from tests.lost_answers.twilio_lines import ANSWER_S
from tests.support.twilio.account import NUMBER, SID, TOKEN
from tests.support.twilio.imitation import Twilio
from tests.support.twilio.telephone import Telephone

LIST_LAG_S, LOST = 0.8, 0.1
_BUSY, _ANSWERS = 0.3, 0.6


class _Telephones(dict[str, Telephone]):
    """Everybody: some are busy, some answer, and most do not."""

    def __init__(self, chance: Random) -> None:
        super().__init__()
        self._chance = chance

    def setdefault(self, key: str, default: Telephone | None = None) -> Telephone:
        lot = self._chance.random()
        does = "busy" if lot < _BUSY else "answers" if lot < _ANSWERS else "no-answer"
        self[key] = Telephone(does, rings_s=self._chance.uniform(0.3, 2.0))
        return self[key]


class _Losing(list[str]):
    """What becomes of the answers to requests for calls."""

    def __init__(self, chance: Random) -> None:
        super().__init__()
        self._chance = chance

    def __bool__(self) -> bool:
        return True

    def pop(self, index: object = 0) -> str:
        return "hang" if self._chance.random() < LOST else ""


async def _imitate(seed: int) -> None:
    chance = Random(seed)
    twilio = Twilio(
        numbers={NUMBER: True},
        telephones=_Telephones(chance),
        placing=cast("list[str]", _Losing(chance)),
        list_lag_s=LIST_LAG_S,
        hangs_s=2 * ANSWER_S,
    )

    async def placed(_: Request) -> Response:
        return JSONResponse(Counter(call["To"] for call in twilio.calls))

    with listener_on() as listener:
        application = twilio.application()
        application.router.routes.append(Route("/placed", placed))
        async with listening(application, listener) as url, anyio.create_task_group() as tasks:
            twilio.url, twilio.tasks = url.removesuffix("/v1"), tasks
            sys.stdout.write(f"{listener.getsockname()[1]}\n")
            sys.stdout.flush()
            await anyio.sleep_forever()


@asynccontextmanager
async def asked_back(database_url: str, data: Path, carrier_url: str) -> AsyncGenerator[str]:
    """A service that answers what Twilio asks; its address. It carries no calls."""
    with listener_on() as listener:
        root = address_of(listener).removesuffix("/v1")
        lines = LineSettings(count=0, twilio_account_sid=SID, twilio_auth_token=TOKEN, twilio_api_base=carrier_url)
        settings = ServiceSettings(data=data, database_url=database_url, public_url=root, lines=lines)
        async with running(settings, workers=False) as service, listening(service.asgi, listener):
            yield root


def main() -> None:
    """Serves on a free port of the loopback interface until the process is ended."""
    anyio.run(_imitate, int(sys.argv[1]))


if __name__ == "__main__":
    main()
