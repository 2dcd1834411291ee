"""The agent of a live call without a model: the same rules as on the simulated network, in real time."""

from collections.abc import Callable
from dataclasses import dataclass

from pydantic import JsonValue

from callwright.service.telephony.engine import CallRequest, Speaker
from callwright.service.telephony.media.findings import Then
from callwright.service.telephony.simulated.conversation.agent_policy import AgentPolicy
from callwright.service.telephony.simulated.conversation.ending import Ending
from callwright.service.telephony.simulated.conversation.line import Awaited, Heard
from callwright.service.telephony.simulated.conversation.phrases import bank_of, bank_or_english
from callwright.service.telephony.simulated.conversation.placeholders import with_plain_placeholders
from callwright.service.telephony.simulated.conversation.tool_cues import ToolUse
from callwright.service.telephony.simulated.conversation.welcome import agent_chance, first_words
from callwright.service.telephony.simulated.machine import message_for_machine
from callwright.service.telephony.transfers import Destination, destinations_in

HeardOf = Callable[[Speaker], str]
"""What was really said in that side's last turn; empty if it has not spoken."""


@dataclass(frozen=True)
class Saying:
    """A sentence of the agent, and what follows it."""

    text: str
    language: str
    then: Then = "listen"

    def shortened(self, most_words: int) -> str:
        """Its first words, at most so many."""
        words = self.text.split()
        return self.text if len(words) <= most_words else " ".join(words[:most_words])


class _Line:
    """Collects what the policy says."""

    cut = False

    def __init__(self, heard_of: HeardOf) -> None:
        self._heard_of = heard_of
        self.sayings: list[Saying] = []

    @property
    def agent_has_spoken(self) -> bool:
        return bool(self._heard_of("agent"))

    def heard_of(self, speaker: Speaker) -> str:
        return self._heard_of(speaker)

    def say(self, speaker: Speaker, text: str, language: str, *, gap_s: float) -> None:
        if speaker == "agent" and text.strip():
            self.sayings.append(Saying(text, language))

    def wait(self, seconds: float) -> None:
        """Time passes by itself."""


class LivePolicy:
    """Answers one call's contact. `heard_of` tells what was really said, so that what was interrupted is repeated."""

    def __init__(self, request: CallRequest, heard_of: HeardOf) -> None:
        request = with_plain_placeholders(request)
        self._line = _Line(heard_of)
        destinations = destinations_in(request.agent.call_tools, request.variables)
        self._policy = AgentPolicy(request, self._line, agent_chance(request), destinations=destinations)
        self._language = request.agent.language

    @property
    def notices(self) -> str:
        """What has to be said in the first words, as it is spoken; known once it has opened."""
        return self._policy.notices

    @property
    def ending(self) -> Ending:
        """How the call ends, as far as it is known."""
        return self._policy.ending

    @property
    def language(self) -> str:
        """The language that is spoken now."""
        return self._language

    @property
    def destination(self) -> Destination | None:
        """Whom the call is to be transferred to now; None if to nobody."""
        return self._policy.destination

    def not_transferred(self) -> list[Saying]:
        """What is said when nobody has taken over."""
        return self._taken(self._policy.not_transferred())

    def open(self) -> list[Saying]:
        """The first words; none if the contact speaks first."""
        return self._taken(self._policy.open())

    def hear(self, text: str, *, keys: str = "", cuts_in: bool = False) -> list[Saying]:
        """The answer to what the contact said or entered. Without any the call is over."""
        heard = Heard(text=text, language=self._language, keys=keys, cuts_in=cuts_in)
        return self._taken(self._policy.hear(heard))

    def tool_for(self, text: str) -> ToolUse | None:
        """The tool that is called at what the contact said, in place of another answer."""
        return self._policy.tool_for(Heard(text=text, language=self._language))

    def told(self, use: ToolUse, *, ok: bool, answer: JsonValue) -> list[Saying]:
        """What is said of the answer of a tool."""
        return self._taken(self._policy.told(use, ok=ok, answer=answer))

    def ask_whether_there(self) -> list[Saying]:
        """What is said to a silent contact."""
        return self._taken(self._policy.ask_whether_there(1))

    def give_up(self) -> list[Saying]:
        """What is said before the call of a silent contact ends."""
        self._policy.give_up()
        return self._taken(None)

    def _taken(self, awaited: Awaited | None) -> list[Saying]:
        said, self._line.sayings = self._line.sayings, []
        if not said:
            return []
        self._language = said[-1].language
        then: Then = "listen"
        if awaited is None or self._policy.ending.disposition == "do_not_call":
            then = "hang_up"
        elif awaited == "farewell":
            then = "farewell"
        return [*said[:-1], Saying(said[-1].text, said[-1].language, then)]


class Phrases:
    """What an agent with a model says by rule: its first words, to silence, to an opt-out and to a machine."""

    def __init__(self, request: CallRequest) -> None:
        self._request = with_plain_placeholders(request)
        self._chance = agent_chance(self._request)
        self._bank = bank_or_english(request.agent.language, incoming=request.answering is not None)
        own = request.agent.language
        self._language = own if bank_of(own) else self._bank.language
        self.notices = ""
        """What has to be said in the first words, as it is spoken; known once it has opened."""

    def opening(self) -> list[Saying]:
        """The welcome message with its notices; nothing if the contact speaks first."""
        said = first_words(self._request, self._chance)
        if said is None:
            return []
        self.notices = said.notices
        message = Saying(said.message, self._request.agent.language)
        return [message, Saying(said.phrase, self._language)] if said.phrase else [message]

    def of(self, key: str, *, then: Then = "listen") -> Saying:
        """One of the agent's phrases."""
        return Saying(self._bank.agent_says(key, self._chance), self._language, then)

    def own_or(self, sentence: str, key: str, *, then: Then = "listen") -> Saying:
        """The agent's own words, or a phrase if there are none."""
        return Saying(sentence, self._request.agent.language, then) if sentence.strip() else self.of(key, then=then)

    def fallback(self, sentence: str) -> Saying:
        """What is said when the model does not answer."""
        return self.own_or(sentence, "still_there")

    def for_machine(self, warnings: list[str]) -> Saying:
        """What is left on a machine."""
        text, language = message_for_machine(self._request, self._chance, warnings=warnings)
        return Saying(text, language, "hang_up")


def to_silence(policy: LivePolicy | None, phrases: Phrases, silences: int) -> list[Saying]:
    """What is said to a contact that is silent: whether it is there, and the second time that the call ends."""
    if silences == 1:
        return policy.ask_whether_there() if policy else [phrases.of("still_there")]
    last = policy.give_up()[-1] if policy else phrases.of("no_voice")
    return [Saying(last.text, last.language, "hang_up")]
