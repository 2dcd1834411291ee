"""The sentence about a change of a campaign that dials, or begins by itself: every value, what dials more first.

Nothing that is changed is left out of it. Only lists whose length says enough, such as windows, are counted. Of a
campaign that has not begun it says what it may then cost at most.
"""

from collections.abc import Mapping, Sequence, Set
from datetime import datetime
from typing import Any, cast

from mcp.server.mcpserver.exceptions import ToolError

from callwright.contract.agents import GetAgent, get_agent
from callwright.contract.audiences import GetAudience, get_audience
from callwright.contract.counts import count_of
from callwright.contract.deployments import UpdateDeployment
from callwright.contract.model import Input, Part
from callwright.contract.names import named, quoted
from callwright.contract.phone_numbers import GetPhoneNumber, get_phone_number
from callwright.contract.words import Money, Spend

from .cost_words import change_cost
from .looked_up import looked_up
from .text import amount, listed, moment
from .use import Use

_MOST_WINDOWS = 4
_MOST_NUMBERS = 5
_LONGEST = 3_000
_FIRST = (
    "audience_id",
    "max_concurrency",
    "calls_per_second",
    "budget_cap",
    "retry_policy",
    "max_call_duration_seconds",
    "start_at",
    "end_at",
    "calling_hours",
    "phone_number_ids",
    "agent_id",
)
"""What decides how much is dialled, to whom, when and for how much."""


async def change_said(
    use: Use, deployment: Mapping[str, Any], asked: UpdateDeployment, weighty: Set[str]
) -> tuple[str, list[Mapping[str, Any]]]:
    """The sentence, and the things it names whose revisions it was made of.

    Raises:
        ToolError: it is too long for one question.
    """
    things: list[Mapping[str, Any]] = [deployment]
    audience: Mapping[str, Any] = {}
    values: list[str] = []
    for name in [*(name for name in _FIRST if name in weighty), *sorted(weighty - {*_FIRST})]:
        value = getattr(asked, name)
        if name == "agent_id":
            agent = await looked_up(use, get_agent, GetAgent(id=value))
            things.append(agent)
            values.append(f"agent_id {_called(agent, value)}")
        elif name == "audience_id":
            audience = await looked_up(use, get_audience, GetAudience(id=value))
            values.append(f"audience_id {_called(audience, value)} with {_people(audience)}")
        elif name == "phone_number_ids":
            values.append(f"phone_number_ids {await _numbers(use, value)}")
        else:
            values.append(f"{name} {said(value)}")
    inbound = deployment.get("call_type") == "inbound"
    what = "inbound deployment" if inbound else "campaign"
    does = "answers people" if inbound else "calls people"
    if deployment.get("status") == "scheduled":
        does = f"begins by itself at {begins(deployment)} and {does}"
    sentence = f"Change the {deployment.get('status')} {what} {_called(deployment, 'without a name')}, which {does}: "
    sentence += f"{', '.join(values)}."
    if (
        deployment.get("status") == "scheduled" and not inbound
    ):  # of one that calls already it would be new at each call
        if not audience:
            audience = await looked_up(use, get_audience, GetAudience(id=str(deployment.get("audience_id"))))
        sentence += f" {await change_cost(use, deployment, asked, audience.get('valid_count'))}"
        if deployment.get("plan_id"):
            sentence += (
                " Changed like this it no longer fits its plan, so at its moment it pauses and waits for a person."
            )
    if len(sentence) > _LONGEST:
        raise ToolError(
            f"A person has to agree to this change, and {len(values)} fields with so much in them do not fit into one "
            "question: nothing was changed. Change fewer fields at a time."
        )
    return sentence, things


def _people(audience: Mapping[str, Any]) -> str:
    people = audience.get("valid_count")
    return count_of(people, "person", "people") if isinstance(people, int) else "people of unknown number"


async def _numbers(use: Use, ids: Sequence[str]) -> str:
    found = [await looked_up(use, get_phone_number, GetPhoneNumber(id=one)) for one in ids[:_MOST_NUMBERS]]
    shown = [named(str(number.get("number") or one)) for number, one in zip(found, ids, strict=False)]
    more = len(ids) - len(shown)
    return f"[{', '.join(shown)}{f' and {more} more' if more else ''}]"


def _called(thing: Mapping[str, Any], otherwise: str) -> str:
    return quoted(str(thing.get("name") or thing.get("id") or otherwise))


def begins(deployment: Mapping[str, Any]) -> str:
    """When a scheduled campaign begins by itself."""
    try:
        return moment(datetime.fromisoformat(str(deployment.get("start_at")))) or ""
    except ValueError:
        return "its time"


def said(value: Any) -> str:
    """A value in a sentence. Texts in it are quoted, so that none of them reads as the sentence going on."""
    if value is None:
        return "none"
    if isinstance(value, str):
        return named(value)
    if isinstance(value, Spend):
        return amount(Money(amount=value.amount, currency=value.currency))
    if isinstance(value, Input | Part):
        return said(value.model_dump(mode="json", exclude_unset=True))
    if isinstance(value, list):
        return f"[{', '.join(said(entry) for entry in cast('list[Any]', value))}]"
    if isinstance(value, dict):
        entries = cast("dict[str, Any]", value).items()
        return f"({', '.join(_entry(name, entry) for name, entry in entries)})"
    return str(value)


def _entry(name: str, value: Any) -> str:
    if name == "windows" and isinstance(value, list):
        windows = cast("list[dict[str, Any]]", value)
        shown = [f"{'+'.join(one['days'])} {one['start']}-{one['end']}" for one in windows]
        return f"{count_of(len(windows), 'window')} {listed(shown, most=_MOST_WINDOWS)}"
    return f"{named(name)} {said(value)}"
