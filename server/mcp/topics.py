"""Guides: short texts about Callwright, each a file in `guides/`."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mcp.server.mcpserver.exceptions import ResourceNotFoundError

from callwright.server.mcp.resources.resources import Address, template_named

if TYPE_CHECKING:
    from callwright.server.mcp.resources.content import Content
    from callwright.server.mcp.session import ServerSession

_FOLDER = Path(__file__).with_name("guides")


@dataclass(frozen=True)
class Guide:
    """A guide: the last part of its address, its title, and its purpose."""

    name: str
    title: str
    description: str

    @property
    def file(self) -> Path:
        """Where its text is."""
        return _FOLDER / f"{self.name}.md"

    @property
    def size(self) -> int:
        """Its length in bytes."""
        return self.file.stat().st_size

    @property
    def uri(self) -> str:
        """Its address."""
        return template_named("guide").address({"topic": self.name})


TOPICS: tuple[Guide, ...] = (
    Guide("agent-prompts", "Writing an agent's prompt", "What belongs into a system prompt and a welcome message."),
    Guide("audiences", "Preparing an audience", "Numbers, files, refused rows, and rows added later."),
    Guide("columns", "Columns of a list", "Consent, time zone, state, priority, language, and not before a time."),
    Guide("hours-and-retries", "Hours, pace and retries", "When people are called, how often, and how fast."),
    Guide("outcomes", "Reading outcomes and dispositions", "What each word means and which question it answers."),
    Guide("webhooks", "Receiving events", "What is sent, how it is signed, and a verifier in ten lines."),
    Guide("simulation", "The simulated network", "What simulated means, what it shows and what it cannot show."),
)


async def guides(session: "ServerSession", address: Address) -> "Content":
    """The list of guides."""
    from callwright.server.mcp.resources.content import Content

    del session, address
    entries = [f"- [{topic.title}]({topic.uri}): {topic.description}" for topic in TOPICS]
    return Content("\n".join(["# Guides", "", *entries, ""]))


async def guide(session: "ServerSession", address: Address) -> "Content":
    """One guide. Raises ResourceNotFoundError with the topics there are."""
    from callwright.server.mcp.resources.content import prose

    del session
    topic = next((topic for topic in TOPICS if topic.name == address.values["topic"]), None)
    if topic is None:
        raise ResourceNotFoundError(f"Unknown resource. Guides are {', '.join(topic.name for topic in TOPICS)}.")
    return prose(topic.file.read_text(encoding="utf-8"), whole_with="the guide is longer than one reading")
