"""An imitation of Cartesia's speech over a websocket.

Written from its documentation: `/tts/websocket` (docs.cartesia.ai/api-reference/tts/websocket).
"""

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field

from aiohttp import WSMsgType, web

from tests.service.telephony.media.providers.imitation import HUGE, RATE, Imitation, Message, json_of, sound_of

_CHUNK = RATE  # bytes: half a second
_ERROR: Message = {
    "type": "error",
    "done": True,
    "title": "Out of order",
    "message": "The service is out of order.",
    "error_code": "internal_error",
    "status_code": 500,
}


@dataclass
class Cartesia(Imitation):
    """The service. It bills the characters that it speaks; what it answers with an error is free."""

    path = "/tts/websocket"
    known: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    versions: list[str] = field(default_factory=list[str])
    spoken: list[str] = field(default_factory=list[str])
    cancelled: list[str] = field(default_factory=list[str])

    def key_of(self, request: web.Request) -> str | None:
        """The key is a header of its own."""
        return request.headers.get("X-API-Key")

    async def talk(self, socket: web.WebSocketResponse, request: web.Request) -> None:
        """Speaks until the socket is closed."""
        self.versions.append(request.headers["Cartesia-Version"])
        said_s: dict[str, float] = {}
        async for message in socket:
            if message.type != WSMsgType.TEXT:
                break
            self.told.append(told := json_of(message))
            context = str(told["context_id"])
            if told.get("cancel"):
                self.cancelled.append(context)
            elif await self.misbehaves(socket, _ERROR | {"context_id": context}):
                pass
            else:
                assert told["output_format"] == {"container": "raw", "encoding": "pcm_s16le", "sample_rate": RATE}
                try:
                    if told["transcript"]:
                        since_s = said_s.get(context, 0.0)
                        said_s[context] = since_s + await self._speak(socket, told["transcript"], context, since_s)
                    if not told["continue"] and self.fault is None:
                        await socket.send_json(_answer("done", context, done=True))
                except ConnectionError:
                    return  # the call is over

    async def _speak(self, socket: web.WebSocketResponse, text: str, context: str, since_s: float) -> float:
        """Speaks a text, and returns how many seconds it takes. Times count from the beginning of the context."""
        self.spoken.append(text)
        self.billed += len(text)
        sound = sound_of(text, self.known)
        if self.fault == "huge":
            await socket.send_json(_answer("chunk", context, data=base64.b64encode(sound + bytes(HUGE)).decode()))
            self.reached.set()
            return 0.0
        length_s, words = len(sound) / 2 / RATE, text.split()
        each_s = length_s / len(words)
        starts = [since_s + each_s * index for index in range(len(words))]
        times = {"words": words, "start": starts, "end": [start + each_s for start in starts]}
        await socket.send_json(_answer("timestamps", context, word_timestamps=times))
        for at in range(0, len(sound), _CHUNK):
            data = base64.b64encode(sound[at : at + _CHUNK]).decode()
            await socket.send_json(_answer("chunk", context, data=data, step_time=20.0))
        await socket.send_json(_answer("flush_done", context, flush_done=True, flush_id=1))
        return length_s


def _answer(kind: str, context: str, *, done: bool = False, **content: object) -> Message:
    return {"type": kind, "done": done, "status_code": 206, "context_id": context, **content}
