"""The person's yes, asked for before real telephones ring or real money is spent.

A host that can ask its user (elicitation) asks; the answer never passes through the model. Elsewhere the arguments of
the call must carry the very sentence that says what will happen, so that the host's own dialog shows it to the person.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, Any, cast

import anyio
from mcp.server.elicitation import AcceptedElicitation, ElicitationResult
from mcp.server.mcpserver.context import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.resolve import (
    Elicit,
    Resolve,
    build_resolver_plans,
    find_resolved_parameters,
    resolve_arguments,
)
from mcp.types import InputRequiredResult
from pydantic import BaseModel, Field

from callwright.contract.model import Input

from .untrusted import cleaned
from .use import Use

PATIENCE_S = 600.0
"""How long an older client may take to answer. Newer ones answer by a call of their own."""

_MOST_SHOWN = 600


@dataclass(frozen=True, kw_only=True)
class Stake:
    """What a call of a tool would set going."""

    sentence: str
    """What the person says yes to. Made of the organization's own settings and of counts, the same at each asking."""
    shown: str | None = None
    """More for the person's eyes only, for example the first greeting."""


Weigh = Callable[[Use, Any], Awaitable[Stake | None]]
"""What a person has to be asked about before a call with these arguments; None where nobody has to be."""


class Agreeing(Input):
    """An argument of every tool that has something at stake."""

    person_agreed_to: Annotated[
        str | None,
        Field(
            max_length=1_000,
            description="Only when an answer asks for it: the sentence the person agreed to, word for word.",
        ),
    ] = None


class Agreement(BaseModel):
    """What the person is asked."""

    agree: bool = Field(title="Yes, do this")


async def consent(context: Context[Any, Any], stake: Stake, asked: Agreeing, tool: str) -> InputRequiredResult | None:
    """None when the person has agreed; else, in the newer protocol, the question to put to them.

    Raises:
        ToolError: they did not agree, or nobody could ask them yet; the text says what to do. Nothing was done.
    """
    if not _can_ask(context):
        _check_sentence(asked.person_agreed_to, stake, tool)
        return None
    with anyio.move_on_after(PATIENCE_S):
        found = await _answer(context, stake)
        if isinstance(found, InputRequiredResult):
            return found
        if isinstance(found, AcceptedElicitation) and found.data.agree:
            return None
        raise ToolError(
            "The person did not agree. Nothing was dialled, nothing spent, nothing changed. Ask them what should be "
            "different; do not try the same again."
        )
    raise ToolError("The person has not answered in time. Nothing was dialled, nothing spent, nothing changed.")


async def _answer(context: Context[Any, Any], stake: Stake) -> ElicitationResult[Agreement] | InputRequiredResult:
    async def question() -> Elicit[Agreement]:
        return Elicit(_message(stake), Agreement)

    def asks(answer: Annotated[ElicitationResult[Agreement], Resolve(question)]) -> None:
        """Its signature tells the SDK what to resolve."""

    wanted = find_resolved_parameters(asks)
    found = await resolve_arguments(wanted, build_resolver_plans(wanted, set()), {}, context)
    return found if isinstance(found, InputRequiredResult) else cast("ElicitationResult[Agreement]", found["answer"])


def _message(stake: Stake) -> str:
    sentence = cleaned(stake.sentence)
    return f"{sentence}\n{stake.shown[:_MOST_SHOWN]}" if stake.shown else sentence


def _can_ask(context: Context[Any, Any]) -> bool:
    """Whether the client shows forms to its user, and can be reached for it."""
    declared = context.client_capabilities
    form = declared.elicitation if declared is not None else None
    if form is None or (form.form is None and form.url is not None):
        return False
    return context.request_context.protocol_version >= "2026-07-28" or context.session.can_send_request


def _check_sentence(given: str | None, stake: Stake, tool: str) -> None:
    sentence = cleaned(stake.sentence)  # another service may have written it
    if given is not None and cleaned(given).split() == sentence.split():
        return
    what = "The person has to agree first" if given is None else "That is not what would happen"
    raise ToolError(
        f"{what}: nothing was done yet. Show them this sentence as it is: «{sentence}» Only if they say yes, "
        f"call {tool} again with person_agreed_to set to exactly that sentence."
    )
