"""Tools that start and stop campaigns. Starting dials and spends; stopping is never gated."""

from callwright.contract import deployments as contract

from .campaign_words import started, stopped
from .tool import Hints, Tool

_DIALS = Hints(read_only=False, destructive=True, idempotent=True, open_world=True)

TOOLS: tuple[Tool, ...] = (
    Tool(
        operation=contract.start_deployment,
        toolset="campaigns",
        title="Start a deployment",
        description=(
            "DIALS PEOPLE AND SPENDS MONEY: calls every contact of a draft or scheduled campaign, with its "
            "retries, until all are done. On the simulated network no telephone rings and the money is play money;"
            " the answer says so. First use preview_deployment, show the person how many people and what cost, and"
            " start only after they agree. For a paused campaign use resume_deployment. Gives the campaign's "
            "state; follow it with get_deployment and wait_seconds, stop it with pause_deployment."
        ),
        hints=_DIALS,
        reply=started,
    ),
    Tool(
        operation=contract.pause_deployment,
        toolset="campaigns",
        title="Pause a deployment",
        description=(
            "Stops new calls of a running campaign at once and keeps its queue; calls under way finish, and cost "
            "what they cost. Safe at any time; use it first when something seems wrong. resume_deployment goes on,"
            " cancel_deployment ends it for good. Gives the campaign's state and counters."
        ),
        hints=Hints(read_only=False, destructive=False, idempotent=True, open_world=True),
        reply=stopped,
    ),
    Tool(
        operation=contract.resume_deployment,
        toolset="campaigns",
        title="Resume a deployment",
        description=(
            "DIALS PEOPLE AND SPENDS MONEY: a paused campaign goes on with the contacts that are left. If it "
            "paused by itself, get_deployment names the reason: repair that first, for example raise budget_cap "
            "with update_deployment. Ask the person before resuming. For a draft use start_deployment. Gives the "
            "campaign's state; follow it with get_deployment and wait_seconds."
        ),
        hints=_DIALS,
        reply=started,
    ),
    Tool(
        operation=contract.cancel_deployment,
        toolset="campaigns",
        title="Cancel a deployment",
        description=(
            "Ends a campaign for good: what is pending is dropped and cannot be taken up again; calls under way "
            "finish, and cost what they cost. Records and transcripts stay. To stop for a while use "
            "pause_deployment. Gives the campaign's state and counters."
        ),
        hints=Hints(read_only=False, destructive=True, idempotent=True, open_world=True),
        reply=stopped,
    ),
)
