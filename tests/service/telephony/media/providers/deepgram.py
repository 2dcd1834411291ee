"""An imitation of Deepgram's live transcription, which recognises by a closed set.

Written from its documentation: `GET /v1/listen` as a websocket (developers.deepgram.com/reference/speech-to-text/
listen-streaming), and the messages KeepAlive, Finalize and CloseStream.
"""

import asyncio
import base64
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from aiohttp import WSMsgType, web

from tests.service.telephony.media.closed_set import ClosedSet, samples_of
from tests.service.telephony.media.providers.imitation import HUGE, RATE, Imitation, Message, json_of

_QUIET_S = 0.3
"""Silence after which a segment is final."""
_LOUD = 0.01
_ERROR: Message = {
    "type": "Error",
    "description": "The service is out of order.",
    "message": "Out of order",
    "variant": "",
}


@dataclass
class _Segment:
    """Sound of which no final result was sent."""

    pcm: bytearray = field(default_factory=bytearray)
    is_speech: bool = False
    quiet_s: float = 0.0

    def hear(self, pcm: bytes) -> None:
        self.pcm += pcm
        if abs(samples_of(pcm)).max(initial=0.0) > _LOUD:
            self.is_speech, self.quiet_s = True, 0.0
        else:
            self.quiet_s += len(pcm) / 2 / RATE

    @property
    def is_over(self) -> bool:
        return self.is_speech and self.quiet_s >= _QUIET_S


@dataclass
class Deepgram(Imitation):
    """The service. It bills the seconds of sound that it gets, silence too."""

    path = "/v1/listen"
    known: ClosedSet = field(default_factory=lambda: ClosedSet({}))
    transcribed: list[str] = field(default_factory=list[str])

    def key_of(self, request: web.Request) -> str | None:
        """The key stands behind the word `Token`."""
        scheme, _, key = request.headers.get("Authorization", "").partition(" ")
        return key if scheme.lower() == "token" else None

    async def talk(self, socket: web.WebSocketResponse, request: web.Request) -> None:
        """Hears until the stream is closed. Without a message for ten seconds it closes as NET-0001."""
        assert (request.query["encoding"], request.query["sample_rate"], request.query["channels"]) == (
            "linear16",
            str(RATE),
            "1",
        )
        segment, heard_s = _Segment(), 0.0
        while True:
            try:
                message = await socket.receive(timeout=10.0)
            except TimeoutError:
                await socket.close(code=1011, message=b"NET-0001")
                return
            if message.type == WSMsgType.BINARY:
                seconds = len(message.data) / 2 / RATE
                heard_s, self.billed = heard_s + seconds, self.billed + seconds
                segment.hear(message.data)
                if segment.is_over:
                    segment = await self._results(socket, segment, from_finalize=False)
            elif message.type == WSMsgType.TEXT:
                self.told.append(told := json_of(message))
                match told.get("type"):
                    case "KeepAlive":
                        pass
                    case "Finalize":
                        segment = await self._results(socket, segment, from_finalize=True)
                    case "CloseStream":
                        if segment.is_speech:
                            segment = await self._results(socket, segment, from_finalize=False)
                        if not socket.closed:
                            await socket.send_json(_metadata(heard_s))
                            await socket.close()
                        return
                    case _:
                        await socket.close(code=1008, message=b"DATA-0000")
                        return
            else:
                return

    async def _results(self, socket: web.WebSocketResponse, segment: _Segment, *, from_finalize: bool) -> _Segment:
        """Sends the result of a segment, and begins another one."""
        if self.fault == "huge":
            await socket.send_bytes(base64.b64encode(bytes(HUGE)))
            self.reached.set()
        elif await self.misbehaves(socket, _ERROR):
            return _Segment()
        text = ""
        if segment.is_speech:
            text = await asyncio.to_thread(self.known.recognise, bytes(segment.pcm))
            self.transcribed.append(text)
        with suppress(ConnectionError):  # the call is over
            await socket.send_json(_result(text, len(segment.pcm) / 2 / RATE, from_finalize=from_finalize))
        return _Segment()


def _result(text: str, duration_s: float, *, from_finalize: bool) -> Message:
    words: list[dict[str, Any]] = [
        {"word": word.lower(), "start": 0.0, "end": duration_s, "confidence": 0.99, "punctuated_word": word}
        for word in text.split()
    ]
    return {
        "type": "Results",
        "channel_index": [0, 1],
        "duration": duration_s,
        "start": 0.0,
        "is_final": True,
        "speech_final": True,
        "from_finalize": from_finalize,
        "channel": {"alternatives": [{"transcript": text, "confidence": 0.99 if text else 0.0, "words": words}]},
        "metadata": {
            "request_id": "0f9e7e48-0f9c-4cde-a2a1-000000000001",
            "model_info": {"name": "general-nova-3", "version": "2026-01-01.0", "arch": "nova-3"},
            "model_uuid": "0f9e7e48-0f9c-4cde-a2a1-000000000002",
        },
    }


def _metadata(duration_s: float) -> Message:
    return {
        "type": "Metadata",
        "transaction_key": "deprecated",
        "request_id": "0f9e7e48-0f9c-4cde-a2a1-000000000001",
        "sha256": "0" * 64,
        "created": "2026-11-27T09:00:00.000Z",
        "duration": duration_s,
        "channels": 1,
    }
