"""From an error of the client to a sentence that tells a model what happened and which tool helps."""

from pydantic import JsonValue

from callwright.client.errors import (
    AnswerTooLarge,
    CallwrightError,
    InvalidArguments,
    ServiceProblem,
    ServiceTimeout,
    ServiceUnreachable,
)
from callwright.contract.operation import AnyOperation

from .text import shortened
from .tool import Tool
from .untrusted import cleaned

NEXT: dict[str, str] = {
    "invalid_json": "This is a fault of the server, not of your arguments: report it and do not try again.",
    "missing_field": "Add the field named above and call again.",
    "invalid_field": "Correct the field named above and call again.",
    "invalid_cursor": "Call again without cursor, with the same filters and sort.",
    "payload_too_large": "Send less at once: up to 1,000 rows with add_audience_rows, or the file in parts with "
    "import_audience.",
    "unsupported_media_type": "This is a fault of the server, not of your arguments: report it and do not try again.",
    "method_not_allowed": "The service does not know this operation: it may be an older version. Tell the person.",
    "api_key_required": "No tool helps: the person has to set CALLWRIGHT_API_KEY to a key that begins with svc_live_.",
    "invalid_api_key": "No tool helps: the person has to set CALLWRIGHT_API_KEY to an active key.",
    "origin_not_allowed": "No tool helps: the person has to reach the service from a server, not from a browser.",
    "not_found": "Check the id.",
    "duplicate_name": "Choose another name, or use what already has it: {find} with name shows it.",
    "phone_number_in_use": "list_deployments shows what calls from it; cancel_deployment or wait until it finishes.",
    "number_unavailable": "search_available_numbers shows what is free now; take one of those.",
    "audience_in_use": "list_deployments with audience_id shows who uses it; cancel_deployment or wait.",
    "agent_in_use": "list_deployments with agent_id shows who uses it; cancel_deployment or wait.",
    "invalid_state_transition": "{look} shows the state it is in; do only what that state allows.",
    "idempotency_key_reused": "Call again; each call gets a fresh key.",
    "insufficient_credits": "get_wallet shows what is there and the prices. The person has to top up, or dial fewer.",
    "plan_limit_reached": "Finish or delete some first ({find} shows them), or the person moves to a larger plan.",
    "audience_not_ready": "get_audience shows its state; add_audience_rows or import_audience fills it.",
    "internal_error": "Nothing was changed. Try once more; if it fails again, report the request id.",
    "service_unavailable": "Tell the person what is missing; try again later.",
}
"""What to do about each problem code. `{find}` is the tool that lists the thing, `{look}` the one that shows it."""

FINDERS: dict[str, str] = {
    "agent_id": "list_agents",
    "voice_id": "list_voices",
    "audience_id": "list_audiences",
    "phone_number_id": "list_phone_numbers",
    "phone_number_ids": "list_phone_numbers",
    "deployment_id": "list_deployments",
    "contact_id": "list_contacts",
    "call_uuid": "list_calls",
}
"""The tool that shows what exists, by the field that names it."""

BY_NOUN: dict[str, str] = {
    "agents": "list_agents",
    "voices": "list_voices",
    "audiences": "list_audiences",
    "phone_numbers": "list_phone_numbers",
    "deployments": "list_deployments",
    "calls": "list_calls",
    "transcripts": "list_calls",
    "wallet": "get_wallet",
}
"""The tool that shows what exists, by the noun of the operation's path."""

LOOKS: dict[str, str] = {
    "agents": "get_agent",
    "voices": "get_voice",
    "audiences": "get_audience",
    "phone_numbers": "get_phone_number",
    "deployments": "get_deployment",
    "calls": "get_call",
    "transcripts": "list_calls",
    "wallet": "get_wallet",
}
"""The tool that shows one of them."""

_DETAILS = ("current_status", "allowed", "required", "available", "limit", "current", "reasons")


def explained(error: CallwrightError, tool: Tool) -> str:
    """What happened and the next step, in one short paragraph. Text from the service is cleaned and cut."""
    if isinstance(error, ServiceProblem):
        return f"{_happened(error)} {_advice(error, tool.operation)}"
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
    return f"{what} It may have happened: look with {looked_up_with(tool.operation)} before trying again."


def looked_up_with(operation: AnyOperation) -> str:
    """The tool that shows whether a change has happened."""
    gone = operation.method == "DELETE"
    return (LOOKS if operation.path_fields and not gone else BY_NOUN)[operation.noun]


def _happened(problem: ServiceProblem) -> str:
    said = _sentence(problem.message)
    if problem.field and problem.field not in said:
        said = f"{cleaned(problem.field)}: {said}"
    parts = [said, *(_entry(entry) for entry in problem.errors[1:6])]
    known = [
        f"{name} {_value(problem.details[name])}"
        for name in _DETAILS
        if problem.details.get(name) not in (None, [], {})
    ]
    if problem.retry_after_s is not None:
        known.append(f"wait {problem.retry_after_s:g} seconds")
    if problem.request_id and problem.status >= 500:
        known.append(f"request id {cleaned(problem.request_id)}")
    if known:
        parts.append(f"({'; '.join(known)})")
    return " ".join(parts)


def _advice(problem: ServiceProblem, operation: AnyOperation) -> str:
    find = BY_NOUN[operation.noun]
    if problem.code == "not_found":
        field = (problem.field or "").split(".")[-1]
        if field == "import_id":
            return "The id comes from the answer of import_audience."
        return f"{FINDERS.get(field, find)} shows what exists."
    default = "Try again later, or tell the person."
    return NEXT.get(problem.code, default).format(find=find, look=looked_up_with(operation))


def _entry(entry: JsonValue) -> str:
    if isinstance(entry, dict):
        return _sentence(f"{entry.get('field') or 'value'}: {entry.get('message') or 'not allowed'}")
    return _sentence(str(entry))


def _value(value: JsonValue) -> str:
    if isinstance(value, dict):
        return " ".join(_value(part) for part in value.values())
    if isinstance(value, list):
        return ", ".join(_value(part) for part in value)
    return shortened(cleaned(str(value)), 200)


def _sentence(text: str) -> str:
    said = shortened(cleaned(text).strip(), 500)
    return said if said.endswith((".", "!", "?", "…")) else f"{said}."
