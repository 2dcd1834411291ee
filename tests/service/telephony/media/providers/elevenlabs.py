"""An imitation of ElevenLabs' speech over a websocket with several contexts.

Written from its documentation: `/v1/text-to-speech/{voice_id}/multi-stream-input`
(elevenlabs.io/docs/api-reference/text-to-speech/v-1-text-to-speech-voice-id-multi-stream-input).
"""

import base64
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise

from aiohttp import WSMsgType, web

from tests.service.telephony.media.providers.imitation import HUGE, RATE, Imitation, Message, json_of, sound_of

_CHUNK = RATE  # bytes: half a second
_ERROR: Message = {"message": "The service is out of order.", "error": "internal_error", "code": 1011}


@dataclass
class ElevenLabs(Imitation):
    """The service. It bills the characters that it is given to speak; the blank that opens a context is none."""

    path = "/v1/text-to-speech/{voice}/multi-stream-input"
    known: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    voices: list[str] = field(default_factory=list[str])
    spoken: list[str] = field(default_factory=list[str])
    closed_contexts: list[str] = field(default_factory=list[str])

    def key_of(self, request: web.Request) -> str | None:
        """The key is a header of its own."""
        return request.headers.get("xi-api-key")

    async def talk(self, socket: web.WebSocketResponse, request: web.Request) -> None:
        """Speaks until the socket is closed."""
        assert request.query["output_format"] == f"pcm_{RATE}"
        self.voices.append(request.match_info["voice"])
        open_contexts: set[str] = set()
        async for message in socket:
            if message.type != WSMsgType.TEXT:
                break
            self.told.append(told := json_of(message))
            context, text = str(told.get("context_id", "")), str(told.get("text", ""))
            if told.get("close_socket"):
                await socket.close()
            elif told.get("close_context"):
                open_contexts.discard(context)
                self.closed_contexts.append(context)
                if self.fault is None:
                    await socket.send_json({"isFinal": True, "contextId": context})
            elif context and context not in open_contexts:
                assert text == " ", "a context begins with a blank"
                open_contexts.add(context)
            elif text.strip() and not await self.misbehaves(socket, _ERROR):
                await self._speak(socket, text, context)

    async def _speak(self, socket: web.WebSocketResponse, text: str, context: str) -> None:
        self.spoken.append(text)
        self.billed += len(text)
        sound = sound_of(text, self.known)
        if self.fault == "huge":
            await socket.send_json({"audio": base64.b64encode(sound + bytes(HUGE)).decode(), "contextId": context})
            self.reached.set()
            return
        with suppress(ConnectionError):  # the call is over
            await self._send(socket, text, sound, context)

    async def _send(self, socket: web.WebSocketResponse, text: str, sound: bytes, context: str) -> None:
        """Sends the sound of a text with the times of its characters, which begin anew in each message."""
        each_ms, done = len(sound) / 2 / RATE * 1_000 / len(text), 0
        for at in range(0, len(sound), _CHUNK):
            end = len(text) if at + _CHUNK >= len(sound) else int((at + _CHUNK) / len(sound) * len(text))
            starts = [int(each_ms * index) for index in range(end - done + 1)]
            alignment = {
                "chars": list(text[done:end]),
                "charStartTimesMs": starts[:-1],
                "charDurationsMs": [after - start for start, after in pairwise(starts)],
            }
            audio = base64.b64encode(sound[at : at + _CHUNK]).decode()
            await socket.send_json(
                {"audio": audio, "alignment": alignment, "normalizedAlignment": alignment, "contextId": context}
            )
            done = end
