"""Campaigns as resources: a deployment, an agent's prompt, a voice's sound."""

from callwright.contract.agents.agents import GetAgent, get_agent
from callwright.contract.deployments.deployments import (
    Deployment,
    GetDeployment,
    get_deployment,
)
from callwright.contract.voices import GetVoicePreview, get_voice_preview
from callwright.server.mcp.resources.content import Content, json_text, prose
from callwright.server.mcp.resources.resources import Address
from callwright.server.mcp.session import ServerSession
from callwright.tools.media.recordings import RESOURCE_BYTES
from callwright.tools.runtime.guarded import client_of
from callwright.tools.runtime.tool import data_of


def deployment_content(found: Deployment) -> Content:
    """A deployment as a resource shows it."""
    return json_text(data_of(found), whole_with="get_deployment and get_agent give them whole")


async def deployment(session: ServerSession, address: Address) -> Content:
    """A deployment with its settings and counters."""
    client = await client_of(session)
    loose = await client.ask_lenient(get_deployment, GetDeployment(id=address.values["deployment_id"]))
    if loose.answer is None:
        return json_text(loose.data, whole_with="get_deployment gives it whole")
    return deployment_content(loose.answer)


async def agent_prompt(session: ServerSession, address: Address) -> Content:
    """The system prompt alone."""
    client = await client_of(session)
    found = await client.ask_lenient(get_agent, GetAgent(id=address.values["agent_id"]))
    return prose(str(found.data.get("system_prompt", "")), whole_with="get_agent gives the whole prompt")


async def voice_preview(session: ServerSession, address: Address) -> Content:
    """The sound of a voice."""
    client = await client_of(session)
    async with client.open(get_voice_preview, GetVoicePreview(id=address.values["voice_id"])) as media:
        return Content(await media.read(RESOURCE_BYTES))
