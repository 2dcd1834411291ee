"""The page of a talk as a test follows it."""

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
from playwright.async_api import Page

MICROPHONE = Path(__file__).with_name("fake_microphone.js")
PATIENCE_S = 90.0
_TRIES = 3


class Talking:
    """The page, and the messages that came to it."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.messages: list[dict[str, Any]] = []
        self.sound_bytes = 0
        self._news = anyio.Event()
        page.on("websocket", lambda socket: socket.on("framereceived", self._received))

    def _received(self, frame: str | bytes) -> None:
        if isinstance(frame, bytes):
            self.sound_bytes += len(frame)
        else:
            self.messages.append(json.loads(frame))
        self._news.set()

    def said(self, role: str) -> list[str]:
        return [one["text"] for one in self.messages if one["type"] == "caption" and one["role"] == role]

    async def until(self, test: Callable[[], bool]) -> None:
        with anyio.fail_after(PATIENCE_S):
            while not test():
                self._news = anyio.Event()
                await self._news.wait()

    async def say(self, pcm: bytes) -> None:
        await self.page.evaluate("(sound) => window.say(sound)", base64.b64encode(pcm).decode())

    async def say_until(self, pcm: bytes, test: Callable[[], bool]) -> None:
        """Says it, and twice more where nothing comes of it: a busy machine may not understand."""
        for _ in range(_TRIES):
            await self.say(pcm)
            with anyio.move_on_after(PATIENCE_S / _TRIES):
                await self.until(test)
                return
        raise AssertionError(f"nothing came of it; the agent said {self.said('agent')}")
