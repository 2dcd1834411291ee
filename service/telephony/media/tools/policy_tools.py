"""Tools of an agent without a model: they are called at the words that their `use_when` names."""

from functools import partial
from typing import Protocol

from callwright.service.telephony.media.policy import LivePolicy, Saying
from callwright.service.telephony.media.tools.call_tools import CallTools
from callwright.service.telephony.simulated.conversation.tool_cues import ToolUse


class Talk(Protocol):
    """The conversation that a policy leads."""

    @property
    def policy(self) -> LivePolicy | None:
        """The policy that answers; None with a model."""
        ...

    @property
    def is_over(self) -> bool:
        """Whether it has ended, or the agent says its last words."""
        ...

    async def say_all(self, sayings: list[Saying]) -> None:
        """Says sentences as one answer."""
        ...


class PolicyTools:
    """The tools of one call, as its policy calls them. The contact is not answered otherwise while one works."""

    def __init__(self, talk: Talk, tools: CallTools) -> None:
        self._talk, self._tools = talk, tools

    def take(self, text: str) -> bool:
        """Whether these words of the contact call a tool, or one still works; its answer is then said."""
        policy = self._talk.policy
        if policy is None or self._tools.are_running:
            return self._tools.are_running
        use = policy.tool_for(text)
        if use is None:
            return False
        self._tools.turn_begins()
        self._tools.later(partial(self._use, policy, use))
        return True

    async def _use(self, policy: LivePolicy, use: ToolUse) -> None:
        result = await self._tools.use(use.tool.name, dict(use.arguments), "policy")
        sayings = policy.told(use, ok=result.ok, answer=result.answer)
        if not self._talk.is_over:
            await self._talk.say_all(sayings)
