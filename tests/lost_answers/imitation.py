"""An imitation of a carrier over HTTP that has no idempotency key and loses some of its answers after placing a call.

`POST /calls` rings a person each time, `GET /calls?to=` lists calls with a lag, `GET /calls/<id>` tells how a call
stands, `DELETE /calls/<id>` hangs it up, and `GET /placed` says how often each person was rung. Started as a process:
`python -m tests.lost_answers.imitation <seed>`; it prints its port.
"""

import asyncio
import sys
import time
from collections import Counter
from dataclasses import dataclass
from random import Random

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

LOST = 0.1
"""The part of the answers that is lost after placing."""
LIST_LAG_S = 0.8
LONGEST_CALL_S = 2.0


@dataclass
class Placed:
    """A call that was placed: to whom, when, and when it ends."""

    to: str
    at_s: float
    ends_s: float


class Imitation:
    """The carrier's calls."""

    def __init__(self, chance: Random) -> None:
        self._chance = chance
        self._calls: dict[str, Placed] = {}

    async def place(self, request: Request) -> Response:
        """Rings somebody. One answer in ten comes when nobody waits for it any more."""
        asked = await request.json()
        call_id = f"CA{len(self._calls)}"
        now_s = time.monotonic()
        self._calls[call_id] = Placed(asked["to"], now_s, now_s + self._chance.uniform(0.3, LONGEST_CALL_S))
        if self._chance.random() < LOST:
            await asyncio.sleep(30)
        return JSONResponse({"id": call_id}, 201)

    async def list(self, request: Request) -> Response:
        """The calls to a number, without the newest."""
        before_s = time.monotonic() - LIST_LAG_S
        to = request.query_params["to"]
        found = [name for name, call in self._calls.items() if call.to == to and call.at_s < before_s]
        return JSONResponse({"ids": found})

    async def get(self, request: Request) -> Response:
        """How a call stands."""
        call = self._calls[request.path_params["call_id"]]
        return JSONResponse({"is_over": time.monotonic() >= call.ends_s})

    async def hang_up(self, request: Request) -> Response:
        """Ends a call."""
        call = self._calls[request.path_params["call_id"]]
        call.ends_s = min(call.ends_s, time.monotonic())
        return Response(status_code=204)

    async def placed(self, request: Request) -> Response:
        """How often each number was rung."""
        return JSONResponse(Counter(call.to for call in self._calls.values()))

    def application(self) -> Starlette:
        """What answers requests."""
        return Starlette(
            routes=[
                Route("/calls", self.place, methods=["POST"]),
                Route("/calls", self.list, methods=["GET"]),
                Route("/calls/{call_id}", self.get, methods=["GET"]),
                Route("/calls/{call_id}", self.hang_up, methods=["DELETE"]),
                Route("/placed", self.placed, methods=["GET"]),
            ]
        )


class _Server(uvicorn.Server):
    async def startup(self, sockets: object = None) -> None:
        await super().startup()
        port = self.servers[0].sockets[0].getsockname()[1]
        sys.stdout.write(f"{port}\n")
        sys.stdout.flush()


def main() -> None:
    """Serves on a free port of the loopback interface until the process is ended."""
    carrier = Imitation(Random(int(sys.argv[1])))
    _Server(uvicorn.Config(carrier.application(), host="127.0.0.1", port=0, log_level="critical")).run()


if __name__ == "__main__":
    main()
