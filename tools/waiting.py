"""get_deployment with patience: asks again until the campaign rests, or the time is up, and reports progress."""

from typing import Annotated

from pydantic import Field

from callwright.contract.deployments import Deployment, GetDeployment, get_deployment

from .arguments import narrowed
from .campaign_words import done, progress, whole
from .text import lines
from .tool import Reply, data_of
from .use import Use

MOVING = frozenset({"active", "scheduled"})
"""States that end by themselves. A draft waits for a person, so waiting for it would be in vain."""

_FIRST_PAUSE_S = 0.2
_LONGEST_PAUSE_S = 2.0
_GROWTH = 1.5


class GetDeploymentWaiting(GetDeployment):
    """One deployment, at once or when it has come to rest."""

    wait_seconds: Annotated[
        int,
        Field(
            ge=0,
            le=45,
            description="Wait up to this many seconds until it is finished, cancelled or paused. 0 answers at once.",
        ),
    ] = 0


async def awaited(use: Use, asked: GetDeploymentWaiting) -> Reply:
    """The deployment once it rests, or as it is when the time is up."""
    clock = use.session.clock
    deadline = clock.monotonic() + asked.wait_seconds
    question = narrowed(asked, GetDeployment)
    pause, last = _FIRST_PAUSE_S, -1
    while True:
        found = await use.client.ask(get_deployment, question)
        if asked.wait_seconds:
            last = await _reported(use, found, last)
        left = deadline - clock.monotonic()
        if found.status not in MOVING or left <= 0:
            break
        await clock.sleep(min(pause, left))
        pause = min(pause * _GROWTH, _LONGEST_PAUSE_S)
    late = asked.wait_seconds > 0 and found.status in MOVING
    note = f"Not finished after {asked.wait_seconds} seconds; call again to go on waiting." if late else None
    return Reply(text=lines(whole(found, use), note), data=data_of(found))


async def _reported(use: Use, found: Deployment, last: int) -> int:
    """Reports how many contacts are done, when that has grown: the protocol wants progress that increases."""
    stats = found.stats
    now = done(stats)
    if now <= last or not stats.contacts:
        return last
    await use.progress(float(now), float(stats.contacts), progress(stats))
    return now
