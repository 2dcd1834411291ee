"""What a preview says of the tools of an agent that will really call."""

from callwright.contract.agents.call_tools import http_tools
from callwright.service.rules.call_tools import tools_in
from callwright.service.telephony.engine import AgentSnapshot
from callwright.service.telephony.media.messages import SpeechServices


def advice_on_tools(agent: AgentSnapshot, services: SpeechServices) -> list[str]:
    """Which tools cannot work as things are: a secret is missing, or nothing would ever call them."""
    tools = tools_in(agent.call_tools)
    lacking = [
        f"{tool.name} ({header})"
        for tool in http_tools(tools)
        for header in tool.secret_headers
        if header not in services.tools.secrets.get(tool.name, {})
    ]
    found = (
        [f"These tools of the agent fail, because a secret header is not set: {', '.join(lacking)}."] if lacking else []
    )
    if services.thinking.kind == "policy":
        never = [tool.name for tool in tools if tool.use_when is None and tool.type != "call_back_at"]
        if never:
            found.append(f"No model is set, so these tools are never called: {', '.join(never)}; give them use_when.")
    return found
