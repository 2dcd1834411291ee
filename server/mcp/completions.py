"""Completion of arguments in resource templates and prompts: ids and names, newest first, narrowed by what is given."""

import anyio
from mcp.types import Completion, CompletionArgument, CompletionContext, PromptReference, ResourceTemplateReference

from callwright.server.mcp.current import current_session
from callwright.server.mcp.topics import TOPICS

MOST = 100
"""The most values in one answer; the protocol allows no more."""

PATIENCE_S = 3.0
"""How long the service may take. Values found until then are returned."""

WORDS = {"speaker": ("agent", "contact"), "topic": tuple(topic.name for topic in TOPICS)}
"""Arguments that take one of a few words."""


async def complete(
    ref: PromptReference | ResourceTemplateReference, argument: CompletionArgument, context: CompletionContext | None
) -> Completion:
    """Values that match the typed text. Empty if the argument is free text, or the service fails."""
    if words := WORDS.get(argument.name):
        fitting = [word for word in words if word.startswith(argument.value.casefold())]
        return Completion(values=fitting, total=len(fitting), has_more=False)

    from callwright.client.errors import CallwrightError
    from callwright.server.mcp.candidates import LISTS, Candidates
    from callwright.tools.runtime.guarded import client_of

    session = current_session()
    if session is None or argument.name not in LISTS:
        return Completion(values=[])
    given = (context.arguments if context is not None else None) or {}
    spoken = isinstance(ref, ResourceTemplateReference) and ("/transcript" in ref.uri or "/recording" in ref.uri)
    found = Candidates(argument.name, argument.value, given=given, spoken=spoken)
    try:
        with anyio.move_on_after(PATIENCE_S):
            await found.collect(await client_of(session), enough=MOST + 1)
    except CallwrightError:
        # A suggestion is not worth an error: the call that follows will say what is wrong.
        return Completion(values=found.values[:MOST])
    return Completion(values=found.values[:MOST], has_more=len(found.values) > MOST or not found.complete)
