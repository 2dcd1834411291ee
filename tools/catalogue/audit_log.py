"""The tool that says who changed what."""

import json

from callwright.contract import audit_log as contract
from callwright.contract.audit_log import AuditEntry
from callwright.tools.runtime.tool import READS, Tool
from callwright.tools.runtime.tool_context import ToolContext
from callwright.tools.wording.text import line, moment, shortened

_LONGEST_CHANGE = 300


def _entry(entry: AuditEntry, _: ToolContext) -> str:
    changes = {
        name: {side: value for side, value in change.items() if value not in (None, "", [], {})}
        if isinstance(change, dict)
        else change
        for name, change in entry.changes.items()
    }
    return line(
        moment(entry.created_at),
        entry.action,
        entry.subject_id,
        f"by {entry.actor_label} ({entry.actor_id})" if entry.actor_label else f"by {entry.actor_id}",
        f"for {entry.user_id}" if entry.user_id else None,
        f"through {entry.tool}" if entry.tool else None,
        shortened(json.dumps(changes, ensure_ascii=False), _LONGEST_CHANGE) if changes else None,
    )


TOOLS: tuple[Tool, ...] = (
    Tool(
        operation=contract.list_audit_log,
        toolset="audit",
        title="List the audit log",
        description=(
            "Who changed what and when, newest first: the key by name, the tool it came through, and each field before "
            "and after. Use it for who started a campaign and with which plan: action start_deployment, subject_id the "
            "deployment. For what happened on calls use list_calls. Free."
        ),
        hints=READS,
        reply=_entry,
        empty="No entry fits.",
        default_fields=("created_at", "action", "subject_id", "actor_id", "actor_label", "tool", "changes"),
        hidden=frozenset({"sort"}),
        example="request_id",
        argument_descriptions={
            "action": "Such as start_deployment.",
            "subject_id": "What was changed.",
            "actor_id": "The key; operator for the command line, platform for the service.",
            "tool": "Through this tool.",
        },
    ),
)
