"""The tools by which somebody calls a number without a telephone: on the simulated network, or from a browser."""

from callwright.contract import simulated_callers as contract
from callwright.contract.checks.counts import count_of
from callwright.contract.deployments.talks import Talk, talk_to_number
from callwright.contract.simulated_callers import SimulatedCallers
from callwright.tools.runtime.tool import Hints, Tool
from callwright.tools.runtime.tool_context import ToolContext
from callwright.tools.wording.text import lines, moment


def _coming(made: SimulatedCallers, context: ToolContext) -> str:
    until = f", the last at {moment(made.last_at)}" if made.last_at != made.first_at else ""
    return lines(
        f"{count_of(made.count, 'caller')} on the simulated network: the first at {moment(made.first_at)}{until}.",
        context.hint(f"list_calls with deployment_id {made.deployment_id} shows what each of them got."),
    )


def _called(talk: Talk, _: ToolContext) -> str:
    return lines(
        f"Open this within a minute to call the number: {talk.url}",
        f"Note: {talk.notice}" if talk.notice else None,
        f"It is call {talk.call_id}, once the page is open; get_transcript shows what was said when it has ended.",
    )


TOOLS: tuple[Tool, ...] = (
    Tool(
        operation=contract.simulate_inbound_call,
        toolset="inbound",
        title="Have somebody call a number",
        description=(
            "Callers of the simulated network call a number that an inbound deployment answers. No telephone rings; a "
            "routing webhook of the number is really asked. To call people use start_deployment. Costs play money."
        ),
        hints=Hints(read_only=False, destructive=False, idempotent=False, open_world=True),
        reply=_coming,
        collapsed=frozenset({"steering"}),
        argument_descriptions={"steering": "What they do, such as {persona: busy}."},
    ),
    Tool(
        operation=talk_to_number,
        toolset="inbound",
        title="Call a number from the browser",
        description=(
            "Makes a link on which the person calls a number from the browser: webhook, hours, queue and mailbox act "
            "as for a telephone. Give it at once: it opens once, within a minute. No telephone rings; free."
        ),
        hints=Hints(read_only=False, destructive=False, idempotent=False, open_world=True),
        reply=_called,
    ),
)
