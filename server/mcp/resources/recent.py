"""The list of resources: fixed ones, and the newest campaigns and calls of the caller."""

from typing import TYPE_CHECKING

import anyio
from mcp.types import Resource

from callwright.contract.checks.counts import count_of
from callwright.server.mcp.resources.resources import TEMPLATES, template_named
from callwright.server.mcp.topics import TOPICS

if TYPE_CHECKING:
    from callwright.server.mcp.session import ServerSession

MOST = 20
"""The most campaigns, and the most calls, that are listed."""

PATIENCE_S = 3.0
"""How long the service may take. A host waits for this list before it shows anything."""


def fixed_resources() -> list[Resource]:
    """The resources that everybody has, without asking the service."""
    found = [
        Resource(
            uri=template.uri,
            name=template.name,
            title=template.title,
            description=template.description,
            mime_type=template.mime_type,
        )
        for template in TEMPLATES
        if template.is_fixed
    ]
    guide = template_named("guide")
    return found + [
        Resource(
            uri=guide.address({"topic": topic.name}),
            name=f"guide {topic.name}",
            title=topic.title,
            description=topic.description,
            mime_type=guide.mime_type,
            size=topic.size,
        )
        for topic in TOPICS
    ]


async def recent_resources(session: "ServerSession") -> list[Resource]:
    """The newest campaigns and calls with a transcript. Those that the service does not return in time are missing."""
    from callwright.client.errors import CallwrightError

    found: list[Resource] = []
    try:
        with anyio.move_on_after(PATIENCE_S):
            found += await _campaigns(session)
            found += await _calls(session)
    except CallwrightError:
        # The rest of the list is useful without them; reading one will report the error.
        return found
    return found


_KINDS = {"outbound": "Campaign", "inbound": "Inbound deployment"}


async def _campaigns(session: "ServerSession") -> list[Resource]:
    from callwright.contract.deployments.deployments import ListDeployments, list_deployments
    from callwright.server.mcp.resources.campaigns import deployment_content
    from callwright.tools.runtime.guarded import client_of
    from callwright.tools.wording.cleaning import cleaned
    from callwright.tools.wording.text import shortened

    template = template_named("deployment")
    page = await (await client_of(session)).ask(list_deployments, ListDeployments(per_page=MOST))
    return [
        Resource(
            uri=template.address({"deployment_id": found.id}),
            name=found.id,
            title=f"{_KINDS[found.call_type]} {shortened(cleaned(found.name), 80)}",
            description=f"{found.status}, {count_of(found.stats.contacts, 'contact')}, "
            f"{count_of(found.stats.attempts, 'call')}"
            f"{', simulated' if found.simulated else ''}",
            mime_type=template.mime_type,
            size=deployment_content(found).size,
        )
        for found in page.data
    ]


async def _calls(session: "ServerSession") -> list[Resource]:
    from callwright.contract.calls.calls import ListCalls, list_calls
    from callwright.tools.runtime.guarded import client_of
    from callwright.tools.wording.text import clock_time, line, moment

    template = template_named("transcript")
    asked = ListCalls(per_page=MOST, outcome=["answered", "transferred", "voicemail_left"])
    page = await (await client_of(session)).ask(list_calls, asked)
    return [
        Resource(
            uri=template.address({"call_id": found.id}),
            name=found.id,
            title=f"Transcript of a call to {found.to}",
            description=line(
                moment(found.started_at or found.created_at),
                found.outcome,
                found.disposition,
                clock_time(found.duration_seconds),
                count_of(found.turn_count, "turn"),
                "simulated" if found.simulated else None,
            ),
            mime_type=template.mime_type,
            _meta=template.meta,
        )
        for found in page.data
        if found.turn_count
    ]
