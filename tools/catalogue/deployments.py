"""Tools to read, create and change deployments. Those that start and stop them are in `dialling.py`."""

from datetime import UTC, datetime

from callwright.contract.checks.counts import count_of
from callwright.contract.declaration.field_types import UniqueName
from callwright.contract.deployments import deployments as contract
from callwright.contract.deployments.contacts import Contact
from callwright.contract.deployments.inbound import ANSWERING
from callwright.contract.deployments.settings import SETTINGS
from callwright.tools.confirmation import what_to_confirm
from callwright.tools.replies.campaign_answers import (
    OMITTED_AFTER_A_CHANGE,
    DeploymentFound,
    DeploymentState,
    InboundState,
)
from callwright.tools.replies.campaign_words import entry, preview, whole
from callwright.tools.replies.waiting_for_campaigns import GetDeploymentWaiting, awaited
from callwright.tools.runtime.tool import CHANGES, READS, Hints, Tool, deleted
from callwright.tools.runtime.tool_context import ToolContext
from callwright.tools.wording.text import line, moment, named_id

_MOMENTS = {
    "start_at": "No call before.",
    "end_at": "No new call after.",
}
_SHORTER = {
    "name": "New.",
    "phone_number_ids": "To call from.",
    "calls_per_second": "New calls a second.",
    "caller_id_strategy": "sticky: one number for a contact.",
    "max_concurrency": "Calls at once.",
    "max_call_duration_seconds": "Then a call is ended.",
    "ring_timeout_seconds": "Then a call is no_answer.",
    "budget_cap": "USD, such as 25.00; no call beyond it.",
}
_INSIDE = {
    "auto_start": "Start at once.",
    "calling_hours": '{"timezone_mode": "callee", "windows": [{"days": ["mon", "tue"], "start": '
    '"09:00", "end": "17:00"}]}. callee: in the contact\'s own zone; fixed: in timezone (IANA). No window crosses '
    "midnight.",
    "retry_policy": 'Who was not reached is called again, by default {"max_attempts": 3, "interval_minutes": [240, '
    '1440], "busy_interval_minutes": 15, "retry_on": ["no_answer", "busy", "failed"], "max_attempts_per_day": 2, '
    '"different_time_of_day": true}. retry_on also voicemail, rejected, short_call (short_call_seconds).',
    "voicemail": "When a machine answers: action hangup, continue, or leave_message with message_template.",
    "compliance": "purpose: marketing, informational, collections, survey. consent_column: its "
    "clear yes (yes, true, 1, opt-in, ja, oui, sí) allows a call. Marketing needs it, or consent_attested with "
    "consent_reference. ai_disclosure (true): it says it is automated.",
}
_AS_BEFORE = "As new."
_NESTED = (
    *("calling_hours", "retry_policy", "voicemail", "compliance", "budget_cap"),
    *("caller_id_strategy", "ring_timeout_seconds", "max_call_duration_seconds"),
)
_BY_CHANGE = (
    *("predial_check_url", "recording", "circuit_breaker"),
    *("daily_budget_cap", "ramp_up_seconds", "reserved_inbound_concurrency"),
)
"""Settings of a draft that update_deployment alone offers, to keep the list of tools short."""
_SHORT = frozenset((*SETTINGS, "max_concurrency", "phone_number_ids", "budget_cap"))
"""Settings without a description in other tools, because create_deployment describes them."""
WHOLE_CAMPAIGN_HINT = "The whole campaign is at callwright://deployments/{id}"


class DraftDeployment(contract.CreateDeployment):
    """A new campaign. Its name is made from the time if none is given."""

    name: UniqueName | None = None  # pyright: ignore[reportIncompatibleVariableOverride, reportGeneralTypeIssues]  # filled in before it is asked


async def _with_name(context: ToolContext, asked: DraftDeployment) -> DraftDeployment:
    """The arguments with a name to the second, if none was given."""
    if asked.name is not None:
        return asked
    now = datetime.fromtimestamp(context.session.clock.time(), UTC)
    found = asked.model_copy(update={"name": f"Campaign {now:%Y-%m-%d %H:%M:%S}"})
    found.model_fields_set.add("name")
    return found


def _status(contact: Contact) -> str:
    if contact.status == "held":
        return "held (nobody knows whether the telephone rang)"
    return f"{contact.status} ({contact.status_reason})" if contact.status_reason else contact.status


def _contact(contact: Contact, context: ToolContext) -> str:
    return line(
        contact.id,
        contact.name,
        named_id(contact.external_id),
        context.number(contact.phone_number),
        _status(contact),
        count_of(contact.attempts, "attempt"),
        contact.last_outcome,
        contact.last_disposition,
        f"last call {contact.last_call_id}" if contact.last_call_id else None,
        f"next {moment(contact.next_attempt_at)}" if contact.next_attempt_at else None,
        f"wants a call {moment(contact.callback_at)}" if contact.callback_at else None,
        f"by {contact.decided_by}" if contact.decided_by not in (None, "allowed", contact.status_reason) else None,
    )


TOOLS: tuple[Tool, ...] = (
    Tool(
        operation=contract.list_deployments,
        toolset="campaigns",
        title="List deployments",
        description=(
            "Deployments, newest first: campaigns with how far each is, and inbound ones. For one use "
            "get_deployment. Free."
        ),
        hints=READS,
        reply=entry,
        empty="No deployment fits. create_deployment drafts one.",
        default_fields=("id", "name", "status", "call_type", "simulated", "agent_id", "audience_id", "stats"),
        hidden=frozenset({"created_from", "created_before", "sort", "idempotency_key", "call_type", "fields"}),
    ),
    Tool(
        operation=contract.create_deployment,
        toolset="campaigns",
        title="Create a deployment",
        description=(
            "Drafts a campaign: which agent calls which audience, from which numbers, when, how fast, with what "
            "budget. A draft costs nothing and calls nobody. WITH auto_start=true IT DIALS AND SPENDS MONEY at "
            "once: leave that out, then use preview_deployment. Needs create_agent, import_audience and "
            "rent_phone_number first. To change a draft use update_deployment."
        ),
        hints=Hints(read_only=False, destructive=False, idempotent=False, open_world=True),
        reply=whole,
        input_model=DraftDeployment,
        complete_input=_with_name,
        confirmation=what_to_confirm.create,
        output_model=DeploymentState,
        omitted_fields=frozenset({"stats", "contact_changes", "status_reason", "simulated"}),
        argument_descriptions=_MOMENTS | _SHORTER | _INSIDE,
        collapsed=frozenset({"calling_hours", "retry_policy", "voicemail", "compliance"}),
        required=frozenset({"phone_number_ids"}),
        hidden=frozenset({"call_type", "phone_number_id", "metadata", "person_agreed_to", *_BY_CHANGE}),
        truncation_hint=WHOLE_CAMPAIGN_HINT,
    ),
    Tool(
        operation=contract.clone_deployment,
        toolset="campaigns",
        title="Copy a deployment",
        description=(
            "Drafts a copy of a campaign, also of one that has ended. To change it use update_deployment. Free."
        ),
        hints=Hints(read_only=False, destructive=False, idempotent=False, open_world=False),
        reply=whole,
        output_model=InboundState,
        argument_descriptions={"name": "New."},
        hidden=frozenset({"agent_id", "audience_id", "phone_number_ids"}),
        truncation_hint=WHOLE_CAMPAIGN_HINT,
    ),
    Tool(
        operation=contract.create_inbound_deployment,
        toolset="inbound",
        title="Answer a number",
        description=(
            "Binds a rented number to an agent: it answers whoever calls, which costs money. On the simulated network "
            "simulate_inbound_call has people call. Ask first if money is real. To call people use create_deployment. "
            "Stop it with pause_deployment. For a queue: update_deployment with inbound {overflow: {action: queue}}."
        ),
        hints=Hints(read_only=False, destructive=False, idempotent=False, open_world=True),
        reply=whole,
        confirmation=what_to_confirm.bind,
        output_model=InboundState,
        argument_descriptions={
            "name": "New.",
            "agent_id": "Id or name.",
            "phone_number_id": "Id, number or label.",
            "business_hours": "{timezone, windows: [{days: [mon], start: HH:MM, end}]}. Else always.",
            "after_hours": "{action: reject (default), voicemail or forward, forward_to}.",
            "recording_enabled": "Record.",
        },
        collapsed=frozenset({"business_hours", "after_hours"}),
        hidden=frozenset({"max_concurrency", "overflow", "metadata"}),
        truncation_hint=WHOLE_CAMPAIGN_HINT,
    ),
    Tool(
        operation=contract.get_deployment,
        toolset="campaigns",
        title="Get a deployment",
        description=(
            "One deployment: status, people and calls by outcome, dispositions, spend, settings. For people use "
            "list_contacts. For calls use list_calls. Free."
        ),
        hints=READS,
        reply=whole,
        input_model=GetDeploymentWaiting,
        output_model=DeploymentFound,
        omitted_fields=_SHORT
        | {"start_at", "end_at", "inbound", "started_at", "completed_at", "plan_id", "call_type", "next_dial_at"}
        | {"agent_id", "audience_id", "contact_changes"},
        handler=awaited,
        truncation_hint=WHOLE_CAMPAIGN_HINT,
    ),
    Tool(
        operation=contract.update_deployment,
        toolset="campaigns",
        title="Change a deployment",
        description=(
            "Side effect: on a running campaign a faster pace, a later end or a higher budget_cap makes it DIAL "
            "AND SPEND MORE. A draft changes in all, a paused one in all but agent, audience, recording, an active one "
            "in name, pace, end_at, budget_cap; an inbound one in name, max_concurrency, inbound. To stop one use "
            "pause_deployment."
        ),
        hints=Hints(read_only=False, destructive=True, idempotent=True, open_world=True),
        reply=whole,
        confirmation=what_to_confirm.update,
        output_model=DeploymentState,
        argument_descriptions=_MOMENTS
        | _SHORTER
        | dict.fromkeys(_NESTED, _AS_BEFORE)
        | {
            "name": "New.",
            "agent_id": "",
            "audience_id": "",
            "phone_number_ids": "",
            "daily_budget_cap": "Per 24 h.",
            "ramp_up_seconds": "Ramp.",
            "inbound": "As it is shown.",
            "predial_check_url": "Asked first.",
            "recording": "{enabled, announcement}.",
        },
        collapsed=_SHORT | {"inbound"},
        omitted_fields=OMITTED_AFTER_A_CHANGE,
        hidden=frozenset({"metadata", "circuit_breaker", "reserved_inbound_concurrency", *ANSWERING}),
        truncation_hint=WHOLE_CAMPAIGN_HINT,
    ),
    Tool(
        operation=contract.delete_deployment,
        toolset="removal",
        title="Delete a draft",
        description=(
            "Deletes a campaign that is still a draft, for good. Costs nothing. One that has started cannot be "
            "deleted, because its calls are records. To end that one use cancel_deployment."
        ),
        hints=CHANGES,
        reply=deleted("Deleted draft {id}."),
    ),
    Tool(
        operation=contract.preview_deployment,
        toolset="campaigns",
        title="Preview a deployment",
        description=(
            "Dry run, free: who would be called, who not and why, missing columns, the first greeting, the cost "
            "range, what a start would refuse, and the plan_id. Use it before any start; show the person people "
            "and cost. For settings use get_deployment."
        ),
        hints=READS,
        reply=preview,
        omitted_fields=frozenset(
            {
                *("deployment_id", "plan_valid_until", "max_attempts", "estimated_minutes", "next_call_at"),
                *("finishes_at", "last_call_at", "worst_greeting", "missing_variables", "blocked", "deferred"),
            }
        ),
        hidden=frozenset({"plan_id"}),
        truncation_hint="Repair what is shown and preview again to see what is left.",
    ),
    Tool(
        operation=contract.list_contacts,
        toolset="campaigns",
        title="List contacts of a deployment",
        description=(
            "People of a campaign: status, reason, attempts, next one. For their calls use list_calls. For counts use "
            "get_deployment. Free."
        ),
        hints=READS,
        reply=_contact,
        fenced_as="People of a campaign.",
        empty="No contact fits. A draft has none before its start.",
        default_fields=(
            *("id", "external_id", "name", "phone_number", "status", "status_reason", "decided_by"),
            *("attempts", "next_attempt_at", "last_outcome", "last_disposition", "last_call_id", "callback_at"),
        ),
        example="decided_at",
        argument_descriptions={
            "last_outcome": "Of the last call.",
            "last_disposition": "Of the last call.",
            "name": "Words of the name.",
            "phone_number": "This number.",
        },
        hidden=frozenset({"sort"}),
    ),
)
