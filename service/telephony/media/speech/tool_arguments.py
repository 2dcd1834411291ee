"""The arguments of tools as a model writes them, mended so that what cannot be used is told to it and not dropped.

Pipecat leaves out a call whose arguments are no JSON: the model is never told, and the contact hears nothing.
"""

import json
from collections.abc import AsyncGenerator, Mapping
from typing import cast

from openai import AsyncStream
from openai.types.chat import ChatCompletionChunk
from pydantic import JsonValue

from callwright.service.telephony.media.turns.encodable import encodable, encodable_value

NO_OBJECT = "arguments_that_are_no_object"
"""The only argument of a call whose arguments are none: its value is what the model wrote."""
_LONGEST = 4_000


async def mended(chunks: AsyncStream[ChatCompletionChunk]) -> AsyncGenerator[ChatCompletionChunk]:
    """The same chunks, with the arguments of each call in one piece behind its name, as an object in any case."""
    held: ChatCompletionChunk | None = None
    written: list[str] = []
    async with chunks:
        async for chunk in chunks:
            for choice in chunk.choices[:1]:
                if choice.delta and choice.delta.content:
                    choice.delta.content = encodable(choice.delta.content)
                for call in (choice.delta.tool_calls or () if choice.delta else ())[:1]:
                    if held is not None and call.index != _index(held):
                        yield _with_arguments(held, "".join(written))
                        held, written = None, []
                    if call.function is not None:
                        written.append(call.function.arguments or "")
                        call.function.arguments = None
                        call.function.name = encodable(call.function.name or "") or None
                        held = chunk.model_copy(deep=True, update={"usage": None})
            yield chunk
    if held is not None:
        yield _with_arguments(held, "".join(written))


def _index(chunk: ChatCompletionChunk) -> int:
    calls = chunk.choices[0].delta.tool_calls
    return calls[0].index if calls else -1


def _with_arguments(chunk: ChatCompletionChunk, text: str) -> ChatCompletionChunk:
    """A piece of the same call that has its arguments, and no name: names in pieces are added up."""
    for call in (chunk.choices[0].delta.tool_calls or ())[:1]:
        if call.function is not None:
            call.function.name = None
            call.function.arguments = json.dumps(arguments_of(text))
    return chunk


def arguments_of(text: str) -> Mapping[str, JsonValue]:
    """The arguments that a text holds; `NO_OBJECT` with the text where it holds none."""
    try:
        value = cast("JsonValue", json.loads(text or "{}"))
        clean = encodable_value({} if value is None else value)
    except (ValueError, RecursionError):
        clean = None
    return clean if isinstance(clean, dict) else {NO_OBJECT: encodable(text)[:_LONGEST]}
