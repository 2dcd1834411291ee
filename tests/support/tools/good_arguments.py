"""Good arguments for every tool."""

from collections.abc import Sequence
from typing import Any

from tests.support.tools import people_samples
from tests.support.tools.samples import CALLEE, LISTS

ARGUMENTS: dict[str, dict[str, Any]] = {
    **{name: {"voice_id": "en-US-ada"} for name in ("get_voice", "get_voice_preview")},
    "get_deployment": {"deployment_id": "dep_1"},
    "create_agent": {"name": "A", "voice_id": "en-US-ada", "language": "en-US", "system_prompt": "Be kind."},
    "set_call_tools": {
        "agent_id": "agt_1",
        "call_tools": [{"type": "end_call", "name": "end_call", "description": "Ends it."}],
    },
    "create_audience": {"name": "B", "rows": [{"phone_number": CALLEE, "first_name": "Ada"}]},
    "add_audience_rows": {"audience_id": "aud_1", "rows": [{"phone_number": CALLEE}]},
    "import_audience": {"audience_id": "aud_1", "csv": "phone_number\n+12025550100\n"},
    **{name: {"audience_id": "aud_1", "import_id": "imp_1"} for name in ("get_audience_import", "list_import_errors")},
    "search_available_numbers": {"country": "US"},
    "rent_phone_number": {"country": "US"},
    "import_phone_number": {"number": "+12125550191"},
    "search_transcripts": {"query": "expensive"},
    "get_call_stats": {"group_by": ["outcome", "disposition"]},
    "create_deployment": {"name": "C", "agent_id": "agt_1", "audience_id": "aud_1", "phone_number_ids": ["num_1"]},
    "place_call": {"agent_id": "agt_1", "phone_number_id": "num_1", "to": CALLEE, "auto_start": False},
    "clone_deployment": {"deployment_id": "dep_1", "name": "C"},
    "resolve_call": {"call_id": "cal_1", "placed": True},
    "correct_disposition": {"call_id": "cal_1", "disposition": "goal_met"},
    "create_inbound_deployment": {"name": "D", "agent_id": "agt_1", "phone_number_id": "num_1"},
    **{name: given for part in (*LISTS, people_samples) for name, given in part.ARGUMENTS.items()},
}
"""Arguments for tools that need more than an id."""

_IDS = dict(
    agents="agt_1", audiences="aud_1", phone_numbers="num_1", deployments="dep_1", webhooks="whk_1", events="evt_1"
)


def arguments(name: str, noun: str, required: Sequence[str]) -> dict[str, Any]:
    """Good arguments for a tool."""
    if name in ARGUMENTS:
        return ARGUMENTS[name]
    known = {"call_id": "cal_1", f"{noun.removesuffix('s')}_id": _IDS.get(noun, "")}
    return {field: known[field] for field in required}
