"""Somebody who calls in: says first why, and then talks like everybody else."""

from callwright.service.telephony.simulated.chance import Chance
from callwright.service.telephony.simulated.conversation.contact import Contact, Reply
from callwright.service.telephony.simulated.conversation.persona import OF_CALLERS, Persona, draw_persona
from callwright.service.telephony.simulated.conversation.phrases import Act
from callwright.service.telephony.simulated.reserved import reserved
from callwright.service.telephony.simulated.steering import Mood, Steering

_SAID_AT_ONCE = frozenset(("opt_out", "wrong_number", "wants_human", "other_language", "later"))
# Seconds after which half of them have hung up. An assumption, like the shares of the network.
_PATIENCE_S: dict[Mood, float] = {"friendly": 150.0, "neutral": 110.0, "sceptical": 80.0, "busy": 60.0, "angry": 40.0}


def draw_caller(
    steering: Steering, from_number: str, *, agent_language: str, person: Chance, moment: Chance
) -> Persona:
    """Draws who calls. `person` is the same on every call from a number, `moment` is not.

    A reserved number calls with the intent for which it is reserved.
    """
    return draw_persona(
        steering,
        reserved(from_number),
        agent_language=agent_language,
        wants_transfer=steering.outcome == "transferred" or steering.transfer is not None,
        person=person,
        moment=moment,
        intents=OF_CALLERS,
    )


def patience_s(persona: Persona, steering: Steering, chance: Chance) -> float:
    """How long the caller waits for somebody to talk to."""
    drawn = chance.log_normal(_PATIENCE_S[persona.mood], 0.6)
    return drawn if steering.patience_s is None else steering.patience_s


class Caller(Contact):
    """One caller in one call."""

    has_called = True

    def __init__(self, persona: Persona, chance: Chance) -> None:
        super().__init__(persona, chance)
        self._has_begun = False
        if persona.intent in ("yes", "asks_first") and not persona.script:
            self._questions_left = persona.questions

    def opening(self) -> Reply:
        """Why it calls, if nobody has said anything yet."""
        return self._first_words()

    def reply(self, heard: str, act: Act, *, heard_s: float, left: int, unanswered: bool) -> Reply:
        """Why it calls, whatever the agent has asked; later an answer like any contact's."""
        if not self._has_begun:
            return self._first_words()
        return super().reply(heard, act, heard_s=heard_s, left=left, unanswered=unanswered)

    def message(self, sentences: int) -> list[Reply]:
        """What it says to a mailbox: its script, or so many turns."""
        if self._script:
            return [self._scripted() for _ in range(len(self._script))]
        if self._intent in ("opt_out", "wrong_number") and (raised := self._raise(cuts_in=False)) is not None:
            return [raised]
        return [self._say("message"), *(self.message_more() for _ in range(sentences - 1))]

    def message_more(self) -> Reply:
        """What somebody adds to a message."""
        return self._say("message_more")

    def _first_words(self) -> Reply:
        self._has_begun = True
        if self._script:
            return self._scripted()
        persona = self._persona
        if persona.intent == "silent":
            return Reply()
        if persona.hangs_up_early:
            return Reply(hangs_up=True)
        if persona.intent in _SAID_AT_ONCE and (raised := self._raise(cuts_in=False)) is not None:
            return raised
        if persona.intent == "asks_first" and self._questions:
            self._questions_left -= 1
            question = self._questions.pop(int(self._chance.unit() * len(self._questions)))
            words = self._chance.pick(self._bank.contact["calling_question", persona.temperament.register])
            return self._text(words.replace("{0}", question))
        return self._say("calling")
