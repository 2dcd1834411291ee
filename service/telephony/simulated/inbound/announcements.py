"""What a caller hears by rule, before a conversation or in place of one."""

from callwright.service.telephony.engine import CallRequest
from callwright.service.telephony.simulated.chance import Chance
from callwright.service.telephony.simulated.conversation.phrases import bank_of, bank_or_english, joined
from callwright.service.telephony.simulated.conversation.timeline import Timeline


class Announcements:
    """Says phrases in the agent's language, or in English if it has none."""

    def __init__(self, request: CallRequest, timeline: Timeline, words: Chance) -> None:
        language = request.agent.language
        self._timeline, self._words = timeline, words
        self._bank = bank_or_english(language, incoming=True)
        self._language = language if bank_of(language) else self._bank.language

    def say(self, *keys: str, position: int | None = None) -> None:
        """Says the phrases as one turn. `position` is that of the caller in the queue."""
        text = joined(*(self._bank.agent_says(key, self._words) for key in keys))
        if position is not None:
            text = text.replace("{0}", str(position))
        self._timeline.say("agent", text, self._language, gap_s=self._words.between(0.4, 0.9))
