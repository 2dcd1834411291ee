"""Turns an error of the client into a sentence that tells a model what happened and which tool helps."""

import re
from functools import cache

from pydantic import JsonValue

from callwright.client.errors import (
    AddressUnreadable,
    AnswerTooLarge,
    CallwrightError,
    InvalidArguments,
    NotOffered,
    QuotaExceeded,
    ServiceProblem,
    ServiceTimeout,
    ServiceUnreachable,
)
from callwright.contract.declaration.model import Input
from callwright.contract.declaration.operation import AnyOperation
from callwright.tools.numbers.masking import masked_all_possible
from callwright.tools.replies.not_offered import not_there
from callwright.tools.runtime.tool import Tool
from callwright.tools.runtime.tool_context import Session
from callwright.tools.untrusted.fence import fenced
from callwright.tools.wording.cleaning import cleaned
from callwright.tools.wording.mentions import Offers, everything, offered_words
from callwright.tools.wording.text import shortened

NEXT: dict[str, str] = {
    "invalid_json": "This is a fault of the server, not of your arguments: report it and do not try again.",
    "missing_field": "Add the field named above and call again.",
    "invalid_field": "Correct the field named above and call again.",
    "invalid_cursor": "Call again without cursor, with the same filters and sort.",
    "payload_too_large": "Send less at once. add_audience_rows takes up to 1,000 rows. import_audience takes a file in "
    "parts.",
    "unsupported_media_type": "This is a fault of the server, not of your arguments: report it and do not try again.",
    "request_timeout": "Nothing was changed. Call again. If it fails again, the connection is slow: tell the person.",
    "range_not_satisfiable": "Call again without naming a part, or with one that begins earlier.",
    "method_not_allowed": "The service does not know this operation: it may be an older version. Tell the person.",
    "api_key_required": "No tool helps: the person has to set CALLWRIGHT_API_KEY to a key that begins with svc_live_.",
    "invalid_api_key": "No tool helps: the person has to set CALLWRIGHT_API_KEY to an active key.",
    "not_authenticated": "No tool helps: the person has to log in to the dashboard again.",
    "forbidden": "No tool helps: an owner of the organization has to do it, or to change the person's role.",
    "origin_not_allowed": "No tool helps: the person has to reach the service from a server, not from a browser.",
    "api_key_owner_required": "No tool helps: the person has to make another key as a present member of the "
    "organization, {where}, and set CALLWRIGHT_API_KEY to it. Everything else still works with this key.",
    "not_found": "Check the id.",
    "duplicate_name": "Choose another name, or use what already has it. {find} with name shows it.",
    "secrets_still_sign": "Tell the person from when on another rotation is possible. If the present secret leaked, "
    "ask whether to rotate at once with overlap_seconds 0.",
    "phone_number_already_bound": "Bind another number. list_phone_numbers shows them. Or cancel_deployment ends the "
    "deployment that has this one, once the person agrees.",
    "phone_number_in_use": "Wait until the campaign finishes. list_deployments shows what calls from it or answers it. "
    "cancel_deployment ends that.",
    "number_unavailable": "Take another one. search_available_numbers shows what is free now.",
    "audience_in_use": "Wait until the campaign finishes. list_deployments with audience_id shows which uses it. "
    "cancel_deployment ends that.",
    "agent_in_use": "Wait until the campaign finishes. list_deployments with agent_id shows which uses it. "
    "cancel_deployment ends that.",
    "provider_in_use": "update_agent gives those agents another one, if the person agrees. Campaigns have to finish, "
    "or cancel_deployment ends them.",
    "invalid_state_transition": "Do only what its state allows. {look} shows the state.",
    "plan_required": "preview_deployment gives the plan_id; show the person its summary, and after their yes call "
    "again with it.",
    "plan_expired": "preview_deployment gives a new plan_id; call again with it.",
    "plan_stale": "preview_deployment shows how it is now; show the person the new summary, and after their "
    "yes call again with the new plan_id.",
    "revision_mismatch": "It changed after it was looked at, so nothing was done. Look how things stand, tell the "
    "person, and call again: they are then asked anew.",
    "price_changed": "Nothing was rented. Tell the person the new price, and call again: they are then asked anew.",
    "call_under_way": "Wait until the call has ended, or hang_up_call ends it, if the person you work for agrees. Then "
    "call again.",
    "idempotency_in_progress": "The same request is still being served, so it may happen yet. Look with {look} before "
    "you call again: another call would do it once more.",
    "idempotency_key_reused": "Call again; each call gets a fresh key.",
    "insufficient_credits": "The person has to top up, or dial fewer. get_overview shows what is there. "
    "get_wallet shows the prices.",
    "wallet_frozen": "Nothing was paid. Tell the person: only who froze the wallet lets it pay again. get_wallet shows "
    "whether it does.",
    "budget_reached": "Nobody was called. update_deployment raises budget_cap, if the person agrees; then "
    "preview_deployment.",
    "compliance_rejected": "Nobody was called. Tell the person why. A review is theirs to decide: "
    "list_compliance_reviews shows it. Consent that is missing is named with update_deployment.",
    "review_already_decided": "Tell the person who decided, and how. clone_deployment makes a new draft, if they want "
    "to change it.",
    "spending_cap_reached": "Ask for less: a lower budget_cap, or fewer numbers. Otherwise the person needs a key with "
    "a higher spending cap, or does it with the key that started it.",
    "plan_limit_reached": "Finish some first, or the person moves to a larger plan. {find} shows what there is.",
    "audience_full": "Put the further people into another one. create_audience makes it.",
    "audience_importing": "Wait for it: get_audience_import shows when it has ended. Then preview_deployment shows how "
    "many people it is now; show the person the new summary.",
    "audience_not_ready": "It needs people, with the columns named. get_audience shows its state. add_audience_rows "
    "adds rows. import_audience takes a file.",
    "lines_unavailable": "No tool helps: tell the person what the message says to install or to set.",
    "number_not_at_carrier": "No tool helps. Tell the person what the message says: where the number has to be, "
    "or what to set.",
    "number_not_capable": "Take an active number that can be called. list_phone_numbers shows them.",
    "rate_limited": "Nothing was changed. Wait that long, then call again, one call after the other. Fewer calls "
    "that ask for more at once help.",
    "daily_quota_exceeded": "Nothing was changed, and no tool helps before then. Tell the person when it goes on, and "
    "that a larger plan allows more requests a day.",
    "internal_error": "Nothing was changed. Try once more; if it fails again, report the request id.",
    "malformed_request": "Nothing was changed. Call again; if it fails again, tell the person that something between "
    "this server and the service spoils what is sent.",
    "headers_too_large": "Nothing was changed. Ask with fewer or shorter filters.",
    "service_unavailable": "Tell the person what is missing; try again later.",
    "storage_full": "Nothing was changed. Tell the person that the service's disk is full: running campaigns are "
    "paused, and tools that read still work. Whoever runs the service makes room; then what should go on is resumed.",
}
"""What to do about each problem code. `{find}` is the tool that lists the resources, `{look}` the one that shows one,
`{where}` the page on which a person can solve the problem.
"""

FINDERS: dict[str, str] = {
    "agent_id": "list_agents",
    "voice_id": "list_voices",
    "audience_id": "list_audiences",
    "phone_number_id": "list_phone_numbers",
    "phone_number_ids": "list_phone_numbers",
    "deployment_id": "list_deployments",
    "contact_id": "list_contacts",
    "call_uuid": "list_calls",
    "webhook_id": "list_webhooks",
    "delivery_id": "list_webhook_deliveries",
    "restore_version": "list_agent_versions",
    "compare_to": "list_agent_versions",
    "version": "list_agent_versions",
}
"""The tool that lists what exists, by the field that names it."""

LOOKS: dict[str, tuple[str, str]] = {
    "agents": ("list_agents", "get_agent"),
    "voices": ("list_voices", "get_voice"),
    "providers": ("list_providers", "list_providers"),
    "audiences": ("list_audiences", "get_audience"),
    "phone_numbers": ("list_phone_numbers", "get_phone_number"),
    "deployments": ("list_deployments", "get_deployment"),
    "calls": ("list_calls", "get_call"),
    "transcripts": ("list_calls", "list_calls"),
    "wallet": ("get_wallet", "get_wallet"),
    "webhooks": ("list_webhooks", "get_webhook"),
    "events": ("list_events", "get_event"),
    "overview": ("get_overview", "get_overview"),
    "audit_log": ("list_audit_log", "list_audit_log"),
    "do_not_call": ("list_do_not_call", "get_do_not_call"),
    "people": ("export_person", "export_person"),
    "compliance_reviews": ("list_compliance_reviews", "get_compliance_review"),
}
"""The tools that list the resources and show one of them, by the noun of the operation's path."""

_STEPS = re.compile(r"[^.\[\]]+")
_FILTER_WORDS = frozenset({"filter", "from", "before", "created_at"})
"""Parts of filter names on the wire, besides the field names."""
_DETAILS = ("current_status", "allowed", "required", "available", "limit", "current", "reasons")
_AMOUNT = re.compile(r"-?\d+\.\d{6}")
"""An amount of money as the service writes it."""
_ADDRESS = re.compile(r"https?://[!-~]{1,200}")


def explained(
    error: CallwrightError, tool: Tool, *, offers: Offers = everything, key: str = "", fence: str | None = None
) -> str:
    """What happened and the next step, in one short paragraph. Text from the service is cleaned, masked and cut.

    With `fence`, a tag that nobody can guess, the service's own words are inside a fence, because another program wrote
    them. Tools that are switched off are not suggested. `key` is the idempotency key of the call.

    A tool that is switched off is not advised. `key` is the idempotency key of the call.
    """
    if isinstance(error, NotOffered | AddressUnreadable):
        return offered_words(not_there(error, tool.operation), offers)
    if isinstance(error, ServiceProblem):
        happened, advice = _happened(error, tool, own=fence is None), _advice(error, tool.operation, offers)
        if fence is None:
            return f"{happened} {advice}"
        return f"{fenced([happened], tag=fence, what='The service refused. These are its words.')}\n{advice}"
    if isinstance(error, InvalidArguments):
        return f"Invalid arguments: {_sentence(str(error))} Correct them and call again."
    if isinstance(error, ServiceUnreachable | ServiceTimeout):
        late = isinstance(error, ServiceTimeout)
        what = "The service did not answer in time." if late else "The service cannot be reached."
        if tool.hints.read_only or not error.request_sent:
            return f"{what} Nothing was changed; try again in a moment, or tell the person."
    elif isinstance(error, AnswerTooLarge):
        what = "The answer is too large. Ask for less at once."
    else:
        what = "The service gave an answer that cannot be read; it may be of another version."
    if tool.hints.read_only:
        return f"{what} Nothing was changed."
    look = next((name for name in looks(tool.operation) if offers(name)), None)
    if look is None:
        return f"{what} It may have happened: tell the person, and do not try again."
    if key and tool.operation.noun == "deployments" and tool.operation.method == "POST" and offers("get_deployment"):
        look = f"get_deployment and idempotency_key={key}, which finds it if it has happened,"
    return f"{what} It may have happened: look with {look} before trying again."


def explained_to(session: Session, error: CallwrightError, tool: Tool, *, key: str = "") -> str:
    """As `explained`, with the tools of a session, and with a fence if the service is remote."""
    fence = session.ids() if session.remote else None
    return explained(error, tool, offers=session.offers, key=key, fence=fence)


def looks(operation: AnyOperation) -> tuple[str, ...]:
    """The tools that show whether a change has happened, the best first."""
    finds, shows = LOOKS[operation.noun]
    return (shows, finds) if operation.path_fields and operation.method != "DELETE" else (finds,)


def _happened(problem: ServiceProblem, tool: Tool, *, own: bool) -> str:
    field = tool.shown(_own(problem.field, tool))
    if problem.field and problem.field != field:
        said = _sentence(problem.message.removeprefix(f"{problem.field}: "))
    else:
        said = _sentence(problem.message)
    if field and field not in said:
        said = f"{field}: {said}"
    parts = [said, *(_entry(entry, tool) for entry in problem.errors[1:6])]
    known = [
        f"{name} {_value(value, own=own)}"
        for name in _DETAILS
        if (value := _offered(problem.details.get(name), tool)) not in (None, [], {})
    ]
    if isinstance(problem, QuotaExceeded) and problem.resets_at is not None:
        known.append(f"goes on at {problem.resets_at:%Y-%m-%dT%H:%M:%SZ}")
    elif problem.retry_after_s is not None:
        known.append(f"wait {problem.retry_after_s:g} second{'' if problem.retry_after_s == 1 else 's'}")
    if address := _address(problem):
        known.append(f"action_url {address}")
    if problem.request_id and problem.status >= 500:
        known.append(f"request id {masked_all_possible(cleaned(problem.request_id))}")
    if known:
        parts.append(f"({'; '.join(known)})")
    return " ".join(parts)


def _offered(value: JsonValue, tool: Tool) -> JsonValue:
    """A detail; from a list of allowed fields, those that the tool does not have are left out."""
    return [entry for entry in value if entry not in tool.hidden] if isinstance(value, list) else value


def _advice(problem: ServiceProblem, operation: AnyOperation, offers: Offers) -> str:
    find = LOOKS[operation.noun][0]
    if problem.code == "not_found" or (problem.status == 404 and problem.code not in NEXT):
        field = (problem.field or "").split(".")[-1]
        if field == "import_id":
            return offered_words("Check the id. The id comes from the answer of import_audience.", offers)
        return offered_words(f"{FINDERS.get(field, find)} shows what exists.", offers) or "Check the id."
    default = "Try again later, or tell the person."
    look = next((name for name in looks(operation) if offers(name)), find)
    where = "at the action_url above" if _address(problem) else "where keys are made"
    said = NEXT.get(problem.code, default).format(find=find, look=look, where=where)
    return offered_words(said, offers) or default


def _address(problem: ServiceProblem) -> str:
    """The URL that the service gives for the person, if it is a plain one."""
    return problem.action_url if _ADDRESS.fullmatch(problem.action_url or "") and problem.action_url else ""


def _entry(entry: JsonValue, tool: Tool) -> str:
    if isinstance(entry, dict):
        field = tool.shown(_own(str(entry.get("field") or ""), tool))
        return _sentence(f"{field or 'value'}: {entry.get('message') or 'not allowed'}")
    return _sentence(str(entry))


def _own(field: str | None, tool: Tool) -> str:
    """The field path as far as it consists of the tool's arguments: the rest may be a column of a file."""
    kept = 0
    for part in _STEPS.finditer(field or ""):
        if not (part[0].isdigit() or part[0] in _FILTER_WORDS or part[0] in _names(tool.arguments)):
            return (field or "")[:kept].rstrip(".[")
        kept = part.end()
    return field or ""


@cache
def _names(model: type[Input]) -> frozenset[str]:
    """The names of all fields in a model of arguments, at any depth."""
    schema = model.model_json_schema()
    parts = [schema, *schema.get("$defs", {}).values()]
    return frozenset(name for part in parts for name in part.get("properties", {}))


def _value(value: JsonValue, *, own: bool) -> str:
    """A detail as text. Counts and amounts of the `own` service are not masked: they are not telephone numbers."""
    if isinstance(value, dict):
        return " ".join(_value(part, own=own) for part in value.values())
    if isinstance(value, list):
        return ", ".join(_value(part, own=own) for part in value)
    text = cleaned(str(value))
    if own and (not isinstance(value, str) or _AMOUNT.fullmatch(text)):
        return text
    return shortened(masked_all_possible(text), 200)


def _sentence(text: str) -> str:
    said = shortened(masked_all_possible(cleaned(text).strip()), 500)
    return said if said.endswith((".", "!", "?", "…")) else f"{said}."
