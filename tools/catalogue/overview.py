"""The tool with which an assistant begins: what there is. Names are shortened, because each stands beside its id."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from callwright.contract import overview as contract
from callwright.contract.checks.counts import count_of
from callwright.contract.overview import Overview, OverviewAudience, OverviewDeployment, OverviewNumber
from callwright.tools.replies.asking import asked_plainly
from callwright.tools.runtime.tool import READS, Reply, Tool
from callwright.tools.runtime.tool_context import ToolContext
from callwright.tools.wording.text import amount, line, lines, moment, shortened

MOST_BYTES = 2_400
"""The most bytes of its text: 600 tokens."""
_LONGEST_NAME = 24
_NAMES = ("organization", "name", "label", "agent", "audience")


def _campaign(found: OverviewDeployment, *, parts: bool) -> str:
    """A deployment in a line; with `parts` how many it reached, its agent and its audience as well."""
    agent, audience = (shortened(name or "", _LONGEST_NAME) for name in (found.agent, found.audience))
    return "  " + line(
        found.id,
        shortened(found.name, _LONGEST_NAME),
        f"{found.status} ({found.status_reason})" if found.status_reason else found.status,
        _progress(found, parts=parts),
        amount(found.spend) if found.spend.amount.strip("0.") else None,
        f"begins {moment(found.next_start)}" if found.next_start else None,
        f"agent {agent}" if parts and agent else None,
        f"audience {audience}" if parts and audience else None,
    )


def _progress(found: OverviewDeployment, *, parts: bool) -> str | None:
    if found.call_type == "inbound":
        return "inbound"
    reached = f", {found.reached} reached" if parts else ""
    return f"{found.ended} of {found.contacts} done{reached}" if found.contacts else None


def _audience(found: OverviewAudience) -> str:
    people = count_of(found.people, "person", "people")
    status = None if found.status == "ready" else found.status
    return "  " + line(found.id, shortened(found.name, _LONGEST_NAME), status, people)


def _number(found: OverviewNumber, names: Mapping[str, str]) -> str:
    """A number and who answers its callers, by name where the overview shows that deployment."""
    answers = names.get(found.answered_by, found.answered_by) if found.answered_by else "nobody"
    return "  " + line(found.id, found.number, shortened(found.label, _LONGEST_NAME), f"answered by {answers}")


def _overview(found: Overview, context: ToolContext) -> str:
    """The overview within its bound: where names are long, without agents and audiences of campaigns, and advice."""
    reviews = _reviews(found, context)
    whole = _in_words(found, reviews, parts=True)
    return whole if len(whole.encode()) <= MOST_BYTES else _in_words(found, reviews, parts=False)


def _reviews(found: Overview, context: ToolContext) -> str | None:
    if not found.undecided_reviews:
        return None
    waiting = count_of(found.undecided_reviews, "compliance review waits", "compliance reviews wait")
    return context.hint(f"{waiting}. list_compliance_reviews shows them.")


def _in_words(found: Overview, reviews: str | None, *, parts: bool) -> str:
    money = "play money" if found.wallet.play_money else "REAL money"
    network = f"simulated network: no telephone rings, {money}" if found.network == "simulated" else "REAL telephones"
    top_up = f"top up where the service runs: callwright orgs {'fund' if found.wallet.play_money else 'topup'}"
    limits = found.limits
    at_once, reserved = limits.concurrent_calls, limits.reserved_inbound_concurrency
    names = {one.id: shortened(one.name, _LONGEST_NAME) for one in found.deployments.shown}
    return lines(
        line(shortened(found.organization, _LONGEST_NAME), network),
        line(
            f"Wallet: {amount(found.wallet.available)} available",
            f"{amount(found.wallet.reserved)} held back",
            "LOW" if found.wallet.low_balance else None,
            top_up if parts else None,
        ),
        line(
            f"Plan {limits.plan}: {'no limit of calls' if at_once is None else count_of(at_once, 'call')} at a time",
            f"recordings are kept {limits.recording_retention_days} days" if parts else None,
            f"{count_of(reserved, 'line')} left free for callers" if parts and reserved else None,
        ),
        f"{count_of(found.calls_under_way, 'call')} under way.",
        reviews,
        _heading("Campaigns and inbound", found.deployments.total, f", {found.deployments.running} active"),
        *(_campaign(one, parts=parts) for one in found.deployments.shown),
        _heading("Agents", found.agents.total),
        *(f"  {line(one.id, shortened(one.name, _LONGEST_NAME), one.language)}" for one in found.agents.newest),
        _heading("Audiences", found.audiences.total),
        *map(_audience, found.audiences.newest),
        _heading("Phone numbers", found.phone_numbers.total),
        *(_number(one, names) for one in found.phone_numbers.newest),
    )


def _heading(kind: str, total: int, more: str = "") -> str:
    shown = f", newest {contract.MOST_SHOWN}" if total > contract.MOST_SHOWN else ""
    return f"{kind} ({total}{more}{shown}):" if total else f"{kind}: none."


_PLAIN = Tool(
    operation=contract.get_overview,
    toolset="context",
    title="Get the overview",
    description=(
        "What there is, in one answer: campaigns, agents, audiences, numbers, wallet, limits, and whether "
        "telephones really ring. Begin here. For all of a kind use its list tool. Free."
    ),
    hints=READS,
    reply=_overview,
    omitted_fields=frozenset({"organization", "network", "limits", "calls_under_way", "undecided_reviews"}),
)


async def _found(context: ToolContext, asked: contract.GetOverview) -> Reply:
    """The overview, with short names in its data as well."""
    reply = await asked_plainly(_PLAIN, context, asked)
    return replace(reply, data=_with_short_names(reply.data))


def _with_short_names(value: Any) -> Any:
    if isinstance(value, list):
        return [_with_short_names(entry) for entry in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    return {
        key: shortened(part, _LONGEST_NAME) if key in _NAMES and isinstance(part, str) else _with_short_names(part)
        for key, part in cast("dict[str, Any]", value).items()
    }


TOOLS: tuple[Tool, ...] = (replace(_PLAIN, handler=_found),)
