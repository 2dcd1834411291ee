"""Whether what an answer names is there: an agent of the organization, and a voice."""

from sqlalchemy import Connection, select

from callwright.service.inbound.routing.answers import RoutingAnswer
from callwright.service.speech.voices import voice
from callwright.service.tables.schema import agents

_A = agents.c


def why_unknown(connection: Connection, org_id: str, answer: RoutingAnswer) -> str | None:
    """A sentence about what an answer names and there is not; None where all of it is there.

    An agent of another organization is said in the words of one that does not exist.
    """
    if answer.agent_id is not None:
        found = select(_A.id).where(_A.id == answer.agent_id, _A.org_id == org_id)
        if connection.execute(found).first() is None:
            return "The answer's agent_id is no agent of the organization; list_agents has them."
    voice_id = answer.overrides.voice_id
    if voice_id is not None and voice(voice_id) is None:
        return "The answer's overrides.voice_id is no voice; list_voices has them."
    return None
