"""A telephone of tests as a process of its own: it takes one call after the other and does what it is told.

Commands are lines of JSON on standard input, what happens are lines of JSON on standard output. The first argument is
JSON: `listen` (address and port), `on_call` (`answer`, `ring` or `busy`), `transport`, `certificate`, `rtp_timeout`,
`transfers` (what it does when it is asked to call somebody else: `auto`, `manual` or `reject`), `parameters`, `user`.
"""

# The library's listeners have no types.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

import asyncio
import json
import os
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from anyio import to_thread
from baresip import Account, BaresipError, Call, Config, Event, Runtime, StackEvent, UserAgent

_FRAME = 320
"""Bytes of 20 ms at 8 kHz."""


def tell(event: str, **content: object) -> None:
    sys.stdout.write(json.dumps({"event": event} | content) + "\n")
    sys.stdout.flush()


class Telephone:
    def __init__(self, options: dict[str, Any]) -> None:
        self._options = options
        self._call: Call | None = None
        self._to_say = bytearray()
        self._heard = bytearray()
        self._answered = False
        self._tasks: set[asyncio.Task[None]] = set()

    def rings(self, call: Call) -> None:
        self._call, self._answered = call, False
        self._heard.clear()
        tell("incoming", call_id=call.call_id, peer=call.peer, headers=call.headers)
        match self._options["on_call"]:
            case "answer":
                self._start(call.answer())
            case "busy":
                self._start(call.reject())
            case _:
                pass

    def goes_on(self, call: Call) -> None:
        """The call goes on with somebody else."""
        self._call = call
        tell("goes_on")

    def _start(self, work: Any) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def happened(self, event: StackEvent) -> None:
        match event.event:
            case Event.CALL_RINGING:
                tell("rings")
            case Event.CALL_ESTABLISHED:
                self._answered = True
                tell("answered")
            case Event.CALL_CLOSED:
                if self._call is None or event.call == self._call.handle:  # else the call goes on with somebody else
                    self._to_say.clear()
                tell("closed", answered=self._answered, text=event.text, heard_s=self.heard_s())
            case Event.CALL_DTMF_START:
                tell("key", digit=event.text)
            case Event.CALL_TRANSFER:
                tell("asked_to_transfer")
            case Event.CALL_REMOTE_SDP | Event.CALL_MENC:
                tell("media", kind=event.event.name, text=event.text)
            case _:
                pass

    def heard_s(self) -> float:
        """How long anything but silence was heard."""
        frames = (self._heard[at : at + _FRAME] for at in range(0, len(self._heard), _FRAME))
        return sum(0.02 for each in frames if max(map(abs, memoryview(bytes(each)).cast("h")), default=0) > 300)

    async def dial(self, agent: UserAgent, command: dict[str, Any]) -> None:
        """Calls somebody."""
        self._answered = False
        self._heard.clear()
        self._call = await agent.dial(command["uri"], headers=command["headers"])

    async def obey(self, command: dict[str, Any]) -> None:
        call = self._call
        assert call is not None
        match command["do"]:
            case "answer":
                await call.answer()
            case "say":
                self._to_say += await to_thread.run_sync(Path(command["path"]).read_bytes)
            case "press":
                await call.send_dtmf(command["digits"])
                tell("pressed")
            case "hang_up":
                await call.hangup()
            case "hold":
                await call.hold()
            case "resume":
                await call.resume()
            case "save":
                await to_thread.run_sync(Path(command["path"]).write_bytes, bytes(self._heard))
                tell("saved", heard_s=self.heard_s())
            case other:
                raise AssertionError(other)

    async def sound(self) -> None:
        """Says and hears in real time."""
        due, was = time.monotonic(), False
        while True:
            due += 0.02
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            call = self._call
            if call is None or not self._answered:
                continue
            with suppress(BaresipError):
                self._heard += call.audio.read(16_000)
                if self._to_say:
                    frame = bytes(self._to_say[:_FRAME])
                    call.audio.write(frame)
                    del self._to_say[:_FRAME]
                    was = True
                elif was:
                    was = False
                    tell("said")


async def main() -> None:
    options: dict[str, Any] = json.loads(sys.argv[1])
    telephone = Telephone(options)
    runtime = Runtime()
    lines = [f"sip_listen {options['listen']}"]
    if options.get("certificate"):
        lines.append(f"sip_certificate {options['certificate']}")
    await runtime.start(
        Config(
            net_interface="127.0.0.1",
            max_concurrent_calls=None,
            expose_headers=("P-Asserted-Identity",),
            rtp_timeout=options.get("rtp_timeout", 0),
            extra_config_text="\n".join(lines),
        )
    )
    runtime.subscribe(telephone.happened)
    account = Account(
        user=options.get("user", "telephone"),
        domain=options["listen"],
        password="",
        reg_interval=0,
        transport=options.get("transport", "udp"),
        extra_params=("catchall=yes", *options.get("parameters", ())),
    )
    agent = await UserAgent.create(runtime, account, transfer_policy=options.get("transfers", "manual"))
    agent.on_transfer_call(telephone.goes_on)
    agent.on_incoming(telephone.rings)
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    sounding = asyncio.ensure_future(telephone.sound())
    tell("ready")
    while line := await reader.readline():
        with suppress(BaresipError):
            command: dict[str, Any] = json.loads(line)
            if command["do"] == "dial":
                await telephone.dial(agent, command)
            else:
                await telephone.obey(command)
    sounding.cancel()
    await runtime.close()


if __name__ == "__main__":
    asyncio.run(main())
    os._exit(0)
