"""The contact's side of a conversation: what a persona answers to the agent."""

from dataclasses import dataclass, replace
from typing import get_args

from callwright.service.telephony.simulated.chance import Chance
from callwright.service.telephony.simulated.conversation.persona import AT_ONCE, Persona
from callwright.service.telephony.simulated.conversation.phrases import Act, bank_of, bank_or_english
from callwright.service.telephony.simulated.conversation.speech_acts import options_of
from callwright.service.telephony.simulated.steering import keys_of

_BY_ACT = frozenset(get_args(Act)) - {"statement", "yes_no", "choice"}
"""The acts that have phrases of the same name."""
# The phrases for what a contact says once, by its intent.
_SAID_ONCE = {"no": "refuse", "opt_out": "opt_out", "wrong_number": "wrong_number", "wants_human": "wants_human"}


@dataclass(frozen=True, slots=True)
class Reply:
    """What the contact does. A reply without text and keys that does not hang up is silence."""

    text: str = ""
    gap_s: float = 0.0
    hangs_up: bool = False
    cuts_in: bool = False
    language_wanted: str = ""
    callback_after_s: float | None = None
    keys: str = ""
    """What it enters with the keys of its telephone; then it says nothing."""


class Contact:
    """One persona in one call. Its replies depend on their order."""

    has_called = False

    def __init__(self, persona: Persona, chance: Chance) -> None:
        self._persona = persona
        self._chance = chance
        self._bank = bank_or_english(persona.language, incoming=self.has_called)
        self.language = persona.language if bank_of(persona.language) else self._bank.language
        self._script = list(reversed(persona.script))
        self._intent = persona.intent
        self._spoken = 0
        self._raised = False
        self._questions = list(self._bank.contact["questions", persona.temperament.register])
        self._questions_left = persona.questions if persona.intent == "asks_first" else 0
        self._asks_about_robot = persona.asks_about_robot
        self._complained = False

    @property
    def has_script(self) -> bool:
        """Whether turns of its script are left."""
        return bool(self._script)

    def opening(self) -> Reply:
        """What the contact says when it answers and has to speak first."""
        if self._script:
            return self._scripted()
        if self._intent == "silent":
            return Reply()
        if self._intent == "screening":
            return self._say("screening")
        return self._say("pick_up")

    def reply(self, heard: str, act: Act, *, heard_s: float, left: int, unanswered: bool) -> Reply:
        """The answer to a turn of the agent, `heard`, that took `heard_s`, with `left` objectives to come after it.

        `unanswered` says that the agent just had no answer to a question of the contact.
        """
        if self._script:
            return self._scripted()
        persona, chance = self._persona, self._chance
        if self._intent == "silent":
            return Reply()
        if persona.hangs_up_early:
            return self._say("hang_up", hangs_up=True, cuts_in=True)
        temperament = persona.temperament
        leaves, complains = chance.happens(temperament.hangs_up), chance.happens(temperament.interrupts)
        if not persona.keeps_intent:
            if leaves and self._spoken:
                return Reply(hangs_up=True) if chance.happens(0.4) else self._say("hang_up", hangs_up=True)
            if self._spoken >= persona.patience:
                return self._say("hang_up", hangs_up=True)
            if unanswered and chance.happens(0.3):
                return self._say("refuse")
        has_begun = self._raised or self._intent not in AT_ONCE
        if complains and not self._complained and not self._raised and has_begun and heard_s > 3.5:
            self._complained = True
            return self._say("interrupt", cuts_in=True)
        if self._asks_about_robot and has_begun and self._spoken >= 1:
            self._asks_about_robot = False
            return self._say("robot")
        if not self._raised and (self._spoken >= persona.raises_it_at or left == 0):
            raised = self._raise(complains and heard_s > 2.5)
            if raised is not None:
                return raised
        if self._questions_left and self._questions and self._spoken >= 1:
            self._questions_left -= 1
            return self._text(self._questions.pop(int(chance.unit() * len(self._questions))))
        return self._answer(heard, act)

    def farewell(self) -> Reply:
        """What the contact says after the agent's goodbye: its script, a goodbye or nothing."""
        if self._script:
            return self._scripted()
        if self._intent == "gatekeeper":
            return self._say("gatekeeper_ok")
        if self._intent == "silent" or not self._chance.happens(0.5 if self._persona.mood == "angry" else 0.85):
            return Reply(hangs_up=True)
        return self._say("goodbye")

    def connected(self) -> Reply:
        """What the person says to whom the screening service has connected the call."""
        self._intent = "yes"
        self._raised = True
        reply = self._say("pick_up")
        self._spoken = 0
        return reply

    def _raise(self, cuts_in: bool) -> Reply | None:
        """States the contact's intent, once. None for an intent that is not stated."""
        intent, chance = self._intent, self._chance
        self._raised = True
        if phrases := _SAID_ONCE.get(intent):
            return self._say(phrases, cuts_in=cuts_in)
        if intent == "later":
            seconds, _, words = chance.pick(self._bank.contact["later", self._persona.temperament.register]).partition(
                "|"
            )
            return self._text(words, callback_after_s=float(seconds))
        if intent == "other_language":
            known = bank_of(self._persona.language) is not None
            key = "other_language" if known else "other_language_unknown"
            return self._say(key, language_wanted=self._persona.language)
        if intent == "gatekeeper":
            return self._say("gatekeeper")
        if intent == "screening":
            self._raised = False
            return self._screening()
        return None

    def _screening(self) -> Reply:
        if self._spoken == 0:
            return self._say("screening")
        if self._persona.keeps_intent or self._chance.happens(0.6):
            return self._say("screening_hold")
        return self._say("screening_refuse", hangs_up=True)

    def _answer(self, heard: str, act: Act) -> Reply:
        if act == "statement":
            return self._say("ack" if self._spoken else "listen")
        if act in _BY_ACT:
            return self._say(act)
        return self._say("yes") if act == "yes_no" else self._choose(heard)

    def _choose(self, question: str) -> Reply:
        options = options_of(question, self._bank)
        if options is None:
            return self._say("choice_vague")
        chosen = self._chance.pick(options)
        words = self._chance.pick(self._bank.contact["choice", self._persona.temperament.register]).replace(
            "{0}", chosen
        )
        return self._text(words[:1].upper() + words[1:])

    def _scripted(self) -> Reply:
        turn = self._script.pop()
        if keys := keys_of(turn):
            return replace(self._text(""), keys=keys)
        return self._text(turn)

    def _say(self, key: str, *, hangs_up: bool = False, cuts_in: bool = False, language_wanted: str = "") -> Reply:
        words = self._bank.contact_says(key, self._persona.temperament.register, self._chance)
        return self._text(words, hangs_up=hangs_up, cuts_in=cuts_in, language_wanted=language_wanted)

    def _text(
        self,
        words: str,
        *,
        hangs_up: bool = False,
        cuts_in: bool = False,
        language_wanted: str = "",
        callback_after_s: float | None = None,
    ) -> Reply:
        self._spoken += 1
        lag = self._chance.log_normal(self._persona.temperament.lag_s, 0.35)
        return Reply(words, min(lag, 4.0), hangs_up, cuts_in, language_wanted, callback_after_s)
