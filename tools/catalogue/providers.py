"""Tools for providers of speech and language models. None takes a key: `callwright providers set` asks for it."""

from callwright.contract import providers as contract
from callwright.contract.providers import Provider
from callwright.tools.runtime.tool import CHANGES, READS, Tool, deleted
from callwright.tools.runtime.tool_context import ToolContext
from callwright.tools.wording.text import line, listed


def _entry(provider: Provider, _: ToolContext) -> str:
    key = f"key …{provider.key_ends_with}" if provider.key_ends_with else "key set" if provider.has_key else "no key"
    return line(
        provider.name,
        provider.kind,
        listed(provider.roles),
        f"default for {listed(provider.default_for)}" if provider.default_for else None,
        f"model {provider.model}" if provider.model else None,
        f"voice {provider.voice}" if provider.voice else None,
        provider.url,
        key,
    )


TOOLS: tuple[Tool, ...] = (
    Tool(
        operation=contract.list_providers,
        toolset="upkeep",
        title="List providers",
        description=(
            "Accounts at services that hear, think and speak on live calls, by the names that an agent's speech and "
            "model take, and which are the defaults. Each charges its own account for what it does. Never a key: a "
            "person sets one with `callwright providers set`, not here. Free."
        ),
        hints=READS,
        reply=_entry,
        empty="No provider is set. A person sets one on the command line: callwright providers set NAME.",
        default_fields=("name", "kind", "roles", "model", "default_for"),
        hidden=frozenset({"sort"}),
        example="voice",
    ),
    Tool(
        operation=contract.remove_provider,
        toolset="removal",
        title="Remove a provider",
        description=(
            "Removes a provider and its key for good: only a person can set it again, on the command line. Refused "
            "while agents or running campaigns name it. Agents that name none fall back to what else there is. Costs "
            "nothing. Ask the person before removing."
        ),
        hints=CHANGES,
        reply=deleted("Removed the provider {id}, and its key."),
    ),
)
