"""`client.agents`."""

from callwright.client.nouns.method import Noun, listing, method
from callwright.contract import agents


class Agents(Noun):
    """Agents: who speaks on a call."""

    list = listing(agents.list_agents)
    get = method(agents.get_agent)
    create = method(agents.create_agent)
    update = method(agents.update_agent)
    delete = method(agents.delete_agent)
