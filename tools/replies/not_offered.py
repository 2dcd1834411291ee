"""Texts for an operation that this service does not have, or an address in its answers that cannot be opened."""

from collections.abc import Mapping

from callwright.client.errors import AddressUnreadable, NotOffered
from callwright.contract.declaration.operation import AnyOperation
from callwright.tools.wording.cleaning import cleaned
from callwright.tools.wording.text import shortened

_ELSEWHERE = "It may be possible on the service's own pages: tell the person."

ALTERNATIVES: Mapping[str, str] = {
    "search_transcripts": "Use list_calls to find calls and get_transcript to read them one by one.",
    "get_call_stats": "Use list_calls and count: the calls of each page are in the structured answer.",
    "preview_deployment": "So the plan cannot be shown: who would be called and what it would cost is not known, and "
    "nothing was started. Tell the person before anything is started some other way.",
    "start_deployment": "Here a deployment may start when it is made: list_deployments shows how it stands.",
    "resume_deployment": "list_deployments shows how it stands.",
    "pause_deployment": "It goes on if it was running: tell the person at once, who can stop it on the service's own "
    "pages.",
    "cancel_deployment": "It goes on if it was running: tell the person at once, who can stop it on the service's own "
    "pages.",
    "get_deployment": "list_deployments shows all of them.",
    "update_deployment": "create_deployment makes another one.",
    "list_contacts": "list_calls with deployment_id shows who was called.",
    "get_agent": "list_agents shows all of them.",
    "update_agent": "create_agent makes another one.",
    "get_overview": "list_deployments shows campaigns. list_agents shows agents. list_phone_numbers shows numbers.",
    "place_call": "create_audience makes a list of one person, and create_deployment calls it.",
    "get_voice": "list_voices shows all of them.",
    "get_audience": "list_audiences shows all of them.",
    "get_phone_number": "list_phone_numbers shows all of them.",
    "search_available_numbers": "rent_phone_number may take any number that fits.",
    "get_call": "list_calls shows all of them.",
    "get_transcript": "get_call may name a transcript_url that the person can open.",
    "get_recording": "get_call may name a recording_url that the person can open.",
    "get_webhook": "list_webhooks shows all of them.",
    "update_webhook": "create_webhook makes another one.",
    "explain_event": "list_webhooks shows who is told of what; what was sent to them is on the service's own pages.",
    "list_transactions": "get_wallet shows the balance.",
}
"""Alternatives, by operation."""


def not_there(error: NotOffered | AddressUnreadable, operation: AnyOperation) -> str:
    """Says that the operation is missing, that nothing was done, and what helps instead."""
    if isinstance(error, AddressUnreadable):
        said = shortened(cleaned(str(error)), 300)
        return f"The address that the call names was not read: {said}. The person may open it: get_call shows it."
    tried = ", ".join(error.tried)
    if error.nothing_found:
        where = shortened(cleaned(error.base_url), 200)
        return (
            f"Nothing of the service was found at {where}: tried {tried}. Nothing was changed. Either the address "
            "lacks its version prefix, for example /v1 or /api/v1, or the service does not offer this. Tell the person "
            "to check CALLWRIGHT_BASE_URL; `callwright doctor` shows what answers there."
        )
    helps = ALTERNATIVES.get(error.operation, _ELSEWHERE)
    if error.operation != operation.name:
        why = f"which {operation.name} needs for this ({tried} is not there)"
        return f"This service does not offer {error.operation}, {why}. It was not done. {helps}"
    return f"This service does not offer {operation.name} ({tried} is not there). Nothing was changed. {helps}"
