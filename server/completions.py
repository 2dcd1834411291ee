"""Completion of ids in resource templates and prompts: by the beginning of an id or a name, newest first."""

import anyio
from mcp.types import Completion, CompletionArgument, CompletionContext, PromptReference, ResourceTemplateReference

from .current import current_session

MOST = 100
"""Values in one answer; the protocol allows no more."""

_PATIENCE_S = 3.0


async def complete(
    _: PromptReference | ResourceTemplateReference, argument: CompletionArgument, __: CompletionContext | None
) -> Completion:
    """Ids that fit what was typed. Nothing where the argument is no id, or the service cannot be asked in time."""
    from callwright.client.errors import CallwrightError

    from .candidates import LISTS, candidates

    session = current_session()
    if session is None or argument.name not in LISTS:
        return Completion(values=[])
    try:
        with anyio.move_on_after(_PATIENCE_S):
            found = await candidates(await session.client(), argument.name, argument.value, enough=MOST + 1)
            return Completion(values=found[:MOST], has_more=len(found) > MOST)
    except CallwrightError:
        # A suggestion is not worth an error: the call that follows will say what is wrong.
        return Completion(values=[])
    return Completion(values=[])
