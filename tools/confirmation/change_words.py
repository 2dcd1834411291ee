"""The sentence about a change of an active or scheduled campaign: every value, first those that make it dial more.

It leaves out only the name and the metadata. For a replaced object it includes the values that are dropped, with the
old ones. Lists such as windows are cut and counted. For a campaign that has not begun it says how many people it may
then call, and what that may cost at most.
"""

from collections.abc import Mapping, Sequence, Set
from datetime import datetime
from typing import Any, cast

from mcp.server.mcpserver.exceptions import ToolError

from callwright.contract.agents.agents import GetAgent, get_agent
from callwright.contract.audiences import GetAudience, get_audience
from callwright.contract.checks.counts import count_of
from callwright.contract.checks.names import named, quoted
from callwright.contract.declaration.changes import clears
from callwright.contract.declaration.field_types import Spend
from callwright.contract.deployments.deployments import UpdateDeployment
from callwright.contract.deployments.inbound import InboundChanges
from callwright.contract.phone_numbers import GetPhoneNumber, get_phone_number
from callwright.tools.confirmation.cost_words import change_cost
from callwright.tools.confirmation.people_called import (
    consent_no_longer_asked,
    people_called,
    refuse_while_importing,
)
from callwright.tools.references.looked_up import looked_up
from callwright.tools.runtime.tool_context import ToolContext
from callwright.tools.wording.text import moment
from callwright.tools.wording.value_descriptions import NOT_SHOWN, as_stored, describe_change

_MOST_NUMBERS = 5
_MOMENTS = ("start_at", "end_at")
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
"""The settings that decide how much is dialled, to whom, when and at what cost."""


async def change_said(
    context: ToolContext, deployment: Mapping[str, Any], asked: UpdateDeployment, to_confirm: Set[str]
) -> tuple[str, list[Mapping[str, Any]]]:
    """The sentence, and the resources that it describes, whose revisions are bound.

    Raises:
        ToolError: it is too long for one question.
    """
    things: list[Mapping[str, Any]] = [deployment]
    audience: Mapping[str, Any] | None = None
    given = asked.model_dump(mode="json", exclude_unset=True)
    values: list[str] = []
    for name in [*(name for name in _FIRST if name in to_confirm), *sorted(to_confirm - {*_FIRST})]:
        value = getattr(asked, name)
        if name == "agent_id":
            agent = await looked_up(context, get_agent, GetAgent(id=value))
            things.append(agent)
            values.append(f"agent_id {_called(agent, value)}")
        elif name == "audience_id":
            audience = await looked_up(context, get_audience, GetAudience(id=value))
            values.append(f"audience_id {_called(audience, value)} with {_people(audience)}")
        elif name == "phone_number_ids":
            values.append(f"phone_number_ids {await _numbers(context, value)}")
        else:
            values.append(
                describe_change(name, _now(deployment, asked, name), _before(deployment, name), given.get(name))
            )
    inbound = deployment.get("call_type") == "inbound"
    what = "inbound deployment" if inbound else "campaign"
    does = "answers people" if inbound else "calls people"
    if deployment.get("status") == "scheduled":
        does = f"begins by itself at {begins(deployment)} and {does}"
    sentence = f"Change the {deployment.get('status')} {what} {_called(deployment, 'without a name')}, which {does}: "
    sentence += f"{', '.join(values)}."
    if (
        deployment.get("status") == "scheduled" and not inbound
    ):  # for an active campaign this text would change with every call
        if freed := consent_no_longer_asked(deployment, asked):
            sentence += f" {freed}"
        own = GetAudience(id=str(deployment.get("audience_id")))
        refuse_while_importing(audience or await looked_up(context, get_audience, own))
        who, people = await people_called(context, deployment, asked, audience)
        sentence += f" {await change_cost(context, deployment, asked, who, people)}"
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


def answering_then(deployment: Mapping[str, Any], asked: UpdateDeployment) -> dict[str, Any]:
    """The inbound settings of a deployment after a change."""
    return {**cast("dict[str, Any]", deployment.get("inbound") or {}), **as_stored(asked.inbound or InboundChanges())}


def _now(deployment: Mapping[str, Any], asked: UpdateDeployment, name: str) -> Any:
    return answering_then(deployment, asked) if name == "inbound" else as_stored(getattr(asked, name))


def _before(deployment: Mapping[str, Any], name: str) -> Any:
    """The old value, with amounts and times parsed."""
    may_be_empty = clears(UpdateDeployment.model_fields[name]) is not None
    value: Any = deployment.get(name, None if may_be_empty else NOT_SHOWN)
    try:
        if name == "budget_cap" and value is not None:
            return Spend.model_validate(value)
        return datetime.fromisoformat(value) if name in _MOMENTS and isinstance(value, str) else value
    except ValueError:  # another service may write it in another form
        return value


def _people(audience: Mapping[str, Any]) -> str:
    people = audience.get("valid_count")
    return count_of(people, "person", "people") if isinstance(people, int) else "people of unknown number"


async def _numbers(context: ToolContext, ids: Sequence[str]) -> str:
    found = [await looked_up(context, get_phone_number, GetPhoneNumber(id=one)) for one in ids[:_MOST_NUMBERS]]
    shown = [named(str(number.get("number") or one)) for number, one in zip(found, ids, strict=False)]
    more = len(ids) - len(shown)
    return f"[{', '.join(shown)}{f' and {more} more' if more else ''}]"


def _called(thing: Mapping[str, Any], otherwise: str) -> str:
    return quoted(str(thing.get("name") or thing.get("id") or otherwise))


def begins(deployment: Mapping[str, Any]) -> str:
    """The start time of a scheduled campaign as text."""
    try:
        return moment(datetime.fromisoformat(str(deployment.get("start_at")))) or ""
    except ValueError:
        return "its time"
