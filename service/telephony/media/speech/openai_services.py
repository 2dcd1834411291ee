"""Pipecat's services with OpenAI's interface, over HTTP clients that follow no redirect.

An organization gives the address of its provider, and that address is checked. Where a redirect leads is not: a client
that follows it fetches from networks that only this service can reach, and the call plays the answer. So a redirect is
an error of the service, as any other status that is no success.
"""

# Pipecat passes keywords on without their types.
# pyright: reportUnknownMemberType=false

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, cast

from openai import AsyncOpenAI, AsyncStream, DefaultAsyncHttpxClient
from openai.types.chat import ChatCompletionChunk
from pipecat.frames.frames import FunctionCallFromLLM
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.frame_processor import FrameProcessor
from pipecat.services.openai.llm import OpenAILLMService
from pipecat.services.openai.stt import OpenAISTTService
from pipecat.services.openai.tts import OpenAITTSService
from pipecat.utils.http import connection_limits

from callwright.service.telephony.media.speech.tool_arguments import mended
from callwright.service.telephony.media.turns.frames import ToolsCalled


def _client() -> DefaultAsyncHttpxClient:
    """A client of one service of one call. Its connections last as long as the call: turns are seconds apart."""
    limits = connection_limits(max_keepalive_connections=100, max_connections=1000, keepalive_expiry=None)
    return DefaultAsyncHttpxClient(follow_redirects=False, limits=limits)


def _nobody_is_told(ids: Sequence[str]) -> None:
    """Without tools nothing is called."""


class _Closing(FrameProcessor):
    """Closes its connections when its call is over."""

    _http: DefaultAsyncHttpxClient

    async def cleanup(self) -> None:
        """Ends what it does, and closes the connections."""
        await super().cleanup()
        await self._http.aclose()


class Hearing(_Closing, OpenAISTTService):
    """Hears with OpenAI's interface."""

    def __init__(self, **given: Any) -> None:
        self._http = _client()
        super().__init__(http_client=self._http, **given)


class Thinking(_Closing, OpenAILLMService):
    """Thinks with OpenAI's interface."""

    supports_developer_role = False
    """A result that comes late is told in the role of the user: other services of the kind know no developer."""

    calls_begin: Callable[[Sequence[str]], None] = staticmethod(_nobody_is_told)
    """Is told the ids of the tools that an answer calls, before the first of them is called."""
    _known_ids: set[str]

    def create_client(
        self,
        api_key: str | None = None,
        base_url: str | None = None,
        organization: str | None = None,
        project: str | None = None,
        default_headers: Any = None,
        **kwargs: Any,
    ) -> AsyncOpenAI:
        """The client that the service asks with."""
        self._http, self._known_ids = _client(), set()
        return AsyncOpenAI(
            api_key=api_key,
            base_url=base_url,
            organization=organization,
            project=project,
            default_headers=default_headers,
            http_client=self._http,
        )

    async def get_chat_completions(self, context: LLMContext) -> AsyncStream[ChatCompletionChunk]:
        """The chunks of an answer. Arguments of tools are JSON objects, whatever the model wrote."""
        chunks = mended(await super().get_chat_completions(context))
        return cast("AsyncStream[ChatCompletionChunk]", chunks)  # read and closed like one

    async def run_function_calls(self, function_calls: Sequence[FunctionCallFromLLM]) -> None:
        """Calls tools. What is behind it in the pipeline learns, in its place, that the answer may have no words."""
        calls = [self._with_own_id(call) for call in function_calls]
        if calls:
            self.calls_begin([call.tool_call_id for call in calls])
            await self.push_frame(ToolsCalled())
        await super().run_function_calls(calls)

    def _with_own_id(self, call: FunctionCallFromLLM) -> FunctionCallFromLLM:
        """The call with an id that no other has: some services give none, or the same with each answer."""
        if not call.tool_call_id or call.tool_call_id in self._known_ids:
            call = replace(call, tool_call_id=f"call_{len(self._known_ids)}_{call.tool_call_id}")
        self._known_ids.add(call.tool_call_id)
        return call


class Speaking(_Closing, OpenAITTSService):
    """Speaks with OpenAI's interface."""

    def __init__(self, **given: Any) -> None:
        self._http = _client()
        super().__init__(http_client=self._http, **given)
