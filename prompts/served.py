"""Prompts as the protocol server holds them."""

from collections.abc import Sequence
from typing import Any

from mcp.server.mcpserver.context import Context
from mcp.server.mcpserver.prompts import Prompt as ProtocolPrompt
from mcp.server.mcpserver.prompts.base import Message, PromptArgument, UserMessage
from mcp.shared.exceptions import MCPError
from mcp.types import INVALID_PARAMS

from callwright.prompts.registry import PROMPTS, Prompt, PromptArgumentError, prompt_named


class ServedPrompt(ProtocolPrompt):
    """A prompt of the registry. Wrong arguments are invalid parameters, in both eras of the protocol."""

    async def render(self, arguments: dict[str, Any] | None, context: Context[Any, Any]) -> list[Message]:
        """One message of the user with the whole text."""
        prompt = prompt_named(self.name)
        if prompt is None:
            raise unknown_prompt(self.name, [known.name for known in PROMPTS])
        try:
            return [UserMessage(prompt.text(arguments or {}))]
        except PromptArgumentError as error:
            raise MCPError(code=INVALID_PARAMS, message=str(error)) from error


def served_prompts() -> list[ProtocolPrompt]:
    """Every prompt, ready for `MCPServer.add_prompt`."""
    return [_served(prompt) for prompt in PROMPTS]


def unknown_prompt(name: str, known: Sequence[str]) -> MCPError:
    """What to raise for a prompt that does not exist, or needs tools that are switched off."""
    there_are = f"There are {', '.join(known)}." if known else "The tools that prompts need are switched off."
    return MCPError(code=INVALID_PARAMS, message=f"Unknown prompt: {name[:100]}. {there_are}")


def _served(prompt: Prompt) -> ServedPrompt:
    return ServedPrompt(
        name=prompt.name,
        title=prompt.title,
        description=prompt.description,
        arguments=[
            PromptArgument(name=entry.name, description=entry.description, required=entry.required)
            for entry in prompt.arguments
        ],
        fn=prompt.text,
        context_kwarg=None,
    )
