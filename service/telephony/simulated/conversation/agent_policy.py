"""What an agent says that follows its prompt by rules: on the simulated network, and in live calls without a model."""

from collections.abc import Sequence
from dataclasses import replace

from pydantic import JsonValue

from callwright.contract.agents.call_tools import EndCallTool
from callwright.contract.transfers import MOST_TRANSFERS
from callwright.service.rules.opt_out_words import is_opt_out_key
from callwright.service.telephony.engine import CallRequest
from callwright.service.telephony.simulated.chance import Chance
from callwright.service.telephony.simulated.conversation.ending import FAREWELLS, Ending
from callwright.service.telephony.simulated.conversation.facts import filled_facts, news_of, states_asked_time
from callwright.service.telephony.simulated.conversation.line import Awaited, Heard, Line
from callwright.service.telephony.simulated.conversation.phrases import Act, bank_of, bank_or_english, joined, primary
from callwright.service.telephony.simulated.conversation.prompts import Brief, answer_to, brief_of
from callwright.service.telephony.simulated.conversation.speech_acts import (
    ACCEPTING,
    GENERAL,
    Wish,
    act_of,
    is_question,
    wish_of,
)
from callwright.service.telephony.simulated.conversation.timing import spoken_duration_s
from callwright.service.telephony.simulated.conversation.tool_cues import ToolCues, ToolUse
from callwright.service.telephony.simulated.conversation.welcome import filled, first_words, notices_of, read_welcome
from callwright.service.telephony.transfers import Destination


class AgentPolicy:
    """What an agent says that follows its prompt by rules. It speaks on `line` and tells what it waits for then.

    Each call has one; `open` it once. Chance chooses among the phrases of a language. With `destinations` it transfers
    a contact who asks for a person.
    """

    def __init__(
        self, request: CallRequest, line: Line, chance: Chance, *, destinations: Sequence[Destination] = ()
    ) -> None:
        self._request = request
        self._line = line
        self._chance = chance
        self._destinations, self._transfers = destinations, 0
        self.destination: Destination | None = None
        """Whom it transfers the call to, while it waits for what comes of that."""
        language = request.agent.language
        self._incoming = request.answering is not None
        self._bank = bank_or_english(language, incoming=self._incoming)
        self._language = language
        self._has_phrases = bank_of(language) is not None
        self._brief = brief_of(request.agent.system_prompt, request.variables, self._bank)
        self._own_brief: Brief | None = None
        self._left = list(reversed(self._brief.objectives))
        self._unheard: list[str] = []
        self._informs = self._has_phrases and not self._incoming  # a caller has a reason of its own
        self._pending = ""
        self._pending_act: Act | None = None
        self.said = ""
        """What it said last."""
        self.notices = ""
        """What it has to say in its first words: that a machine calls, and that the call is recorded."""
        self.act: Act = "statement"
        """What it asked for last."""
        self.heard_s = 0.0
        """How long its last words take."""
        self._general = False
        self.no_answer = False
        """It just had no answer to a question."""
        self._refused = self._asked = 0
        self._after_hold = False
        self.closing = False
        """It has said goodbye."""
        self._cues = ToolCues(request)
        self.ending = Ending()
        if not self._has_phrases:
            self.ending.warnings.append(
                f"There are no phrases in '{language[:35]}': connecting words and the contact are in English."
            )

    @property
    def left(self) -> int:
        """How many objectives it has not raised yet."""
        return len(self._left)

    # -- the agent speaks ---------------------------------------------------------------------------------------

    def open(self) -> Awaited | None:
        """Says the first words."""
        said = first_words(self._request, self._chance)
        if said is None:
            return "opening"
        self.notices = said.notices
        if not said.phrase:
            return self._ask(said.message)
        self._say(said.message, own=True)
        return self._ask(said.phrase, own=False)

    def _introduce(self) -> str:
        """The agent's first words after a contact that spoke first."""
        parts = [self._bank.agent_says("hello", self._chance)] if self._has_phrases else []
        if self._brief.identity:
            parts.append(self._filled(self._brief.identity))
        discloses = read_welcome(self._brief.identity, self._bank).discloses
        self.notices = " ".join(notices_of(self._request, self._bank, self._chance, discloses=discloses))
        return " ".join(part for part in (*parts, self.notices) if part)

    def _filled(self, template: str) -> str:
        return filled(template, self._request)

    def _say(self, text: str, *, own: bool) -> None:
        """Says a text whose variables are replaced. `own` words are the prompt's, the others are phrases."""
        language = self._language if own or self._has_phrases else self._bank.language
        self.said = text
        self.heard_s = spoken_duration_s(text, language)
        self._line.say("agent", text, language, gap_s=self._chance.between(0.4, 0.9))

    def _phrase(self, key: str) -> None:
        self._say(self._bank.agent_says(key, self._chance), own=False)

    def _ask(self, text: str, *, own: bool = True, act: Act | None = None) -> Awaited | None:
        self.act = act or act_of(text, self._bank)
        self._say(text, own=own)
        return self._next_reply()

    def _next_reply(self) -> Awaited | None:
        return None if self._line.cut else "reply"

    def _go_on(self, lead: str = "", *, courtesy: bool = False) -> Awaited | None:
        """Says the lead, then the next objective. If none is left, closes the call, without a lead of `courtesy`."""
        if self._informs and not self.closing:
            self._inform()
        if not (self._left or self._unheard) or self.closing:
            return self._close("" if courtesy else lead)
        if not self._left:
            self._pending, self._pending_act = "", None
            return self._ask_pending(lead)
        line = self._left.pop()
        self._pending_act = None
        if self._general:
            # The prompt is in another language, so only the kind of the question is kept.
            self._pending_act = act_of(line, bank_or_english(self._request.agent.language))
            line = self._chance.pick(self._bank.general[GENERAL.get(self._pending_act, self._pending_act)])
        # Only in English is an objective that is not a question sure to be a statement to the contact.
        while not is_question(line) and self._left and len(line) < 160 and self._bank.language == "en":
            line = f"{line} {self._left.pop()}"
        self._pending = self._filled(line)
        return self._ask_pending(lead)

    def _inform(self) -> None:
        """Adds the reason of the call to what is said before the first question.

        Not in a language without phrases: without its rules an instruction cannot be told from a fact.
        """
        self._informs = False
        facts = self._brief.facts
        self._unheard = news_of(facts, self._bank, self._filled, alone=not self._brief.objectives) if facts else []
        self._left = [line for line in self._left if line not in self._unheard]

    def _repeat(self, lead: str = "") -> Awaited | None:
        """Says the lead, then the objective that is still open, or the next one."""
        told = not is_question(self._pending) and self._pending in self._line.heard_of("agent")
        done = not self._pending or (told and not self._unheard)
        return self._go_on(lead) if done else self._ask_pending(lead)

    def _ask_pending(self, lead: str) -> Awaited | None:
        """Says the lead, the reason of the call as far as it was not heard, and the objective that is open."""
        self._asked += 1
        news = [fact for fact in self._unheard if fact not in lead]
        return self._ask(joined(lead, *news, self._pending), act=self._pending_act)

    def _lead(self, key: str) -> str:
        """A connecting phrase to put before the prompt's words; none in a language without phrases."""
        return self._bank.agent_says(key, self._chance) if self._has_phrases else ""

    def _said_or_lead(self, phrase: str) -> str:
        """A phrase to put before the prompt's words; it is said as a turn of its own if it is in another language."""
        if self._has_phrases:
            return phrase
        self._say(phrase, own=False)
        return ""

    def _close(self, lead: str = "") -> Awaited | None:
        self._pending = ""
        if not self._brief.objectives and not self._asked and not self.closing:
            self._asked += 1
            self._pending = self._bank.agent_says("purpose", self._chance)
            return self._ask(joined(lead, self._pending), own=bool(lead))
        unbooked = self._cues.unbooked
        done = self._refused == 0 and unbooked is None
        self.ending.settle(refused=self._refused, asked=self._asked, unbooked=unbooked)
        closing = self._bank.agent_says("close_done" if done else "close", self._chance)
        if self.closing:
            closing = self._bank.agent_says("goodbye", self._chance)
        elif lead and not closing.startswith(lead):
            closing = f"{lead} {closing}"
        return self._leave(closing)

    def _leave(self, text: str) -> Awaited | None:
        """Says goodbye. The contact's reply is still processed, in case it wants something else."""
        self.closing = True
        self._pending = ""
        self.act = "statement"
        self._say(text, own=False)
        return None if self._line.cut else "farewell"

    def ask_whether_there(self, silences: int) -> Awaited | None:
        """Asks a silent contact whether it is there, `silences` times by now."""
        phrases = self._bank.agent["still_there"]
        self._say(phrases[(silences - 1) % len(phrases)], own=False)
        return self._next_reply()

    def give_up(self) -> None:
        """Says that nobody is heard and ends the call."""
        self._phrase("no_voice")
        self.ending.hangup_cause, self.ending.ended_by = "inactivity_timeout", "platform"

    def hung_up(self) -> None:
        """Records that the contact has hung up; after the agent's goodbye that is the normal end."""
        if self.closing:
            return
        self.ending.hangup_cause, self.ending.ended_by = "contact_hangup", "contact"

    # -- the agent listens --------------------------------------------------------------------------------------

    def hear(self, heard: Heard) -> Awaited | None:
        """Answers what the contact said, entered or did."""
        ending = self.ending
        if self._unheard:
            told = self._line.heard_of("agent")
            self._unheard = [fact for fact in self._unheard if fact not in told]
        bank = bank_or_english(heard.language, incoming=self._incoming)
        wish = "opt_out" if is_opt_out_key([heard.keys]) else wish_of(heard.text, bank, self.act)
        if heard.hangs_up:
            self.hung_up()
            if ending.disposition == "incomplete" and not ending.met_person:
                ending.disposition = "not_available"
            return None
        if self.closing and wish in ("goodbye", "nothing", "no_start", "away"):
            # A contact with a script says all of it.
            return self._leave(self._bank.agent_says("goodbye", self._chance)) if heard.has_more else None
        lead = ""
        if heard.language_wanted or bank is not self._bank:
            wanted = heard.language_wanted or heard.language
            wish = "nothing" if heard.language_wanted else wish
            if bank_of(wanted) is None:
                ending.disposition = "language_barrier"
                return self._leave(self._bank.agent_says("language_unavailable", self._chance))
            if primary(wanted) != self._bank.language or bank is not self._bank:
                lead = self._change_language(wanted)
        return self._follow(heard, wish, lead)

    def tool_for(self, heard: Heard) -> ToolUse | None:
        """The tool that is called at these words, in place of another answer. Wishes that end the call come first."""
        bank = bank_or_english(heard.language, incoming=self._incoming)
        if self.closing or heard.keys or heard.hangs_up or heard.language_wanted or bank is not self._bank:
            return None
        return self._cues.due(heard.text, wish_of(heard.text, bank, self.act), bank.language)

    def told(self, use: ToolUse, *, ok: bool, answer: JsonValue) -> Awaited | None:
        """Says what a tool has answered, and goes on. After `end_call` it takes its leave."""
        said = self._cues.told(use, ok=ok, answer=answer)
        if self._cues.has_booked:
            self.ending.disposition, self.ending.has_booked = "goal_met", True
        if isinstance(use.tool, EndCallTool):
            own = self._filled(use.tool.sentence)
            return self._leave(joined(said, own or self._bank.agent_says("goodbye", self._chance)))
        if not ok and not said:
            said = self._said_or_lead(self._bank.agent_says("no_answer", self._chance))
        if is_question(said):
            self._pending, self._pending_act = said, None
            return self._ask_pending("")
        return self._go_on(said)

    def _change_language(self, wanted: str) -> str:
        bank = bank_or_english(wanted, incoming=self._incoming)
        spoken_before = primary(self._request.agent.language)
        self._bank, self._language, self._has_phrases, self._general = bank, wanted, True, True
        self._informs, self._unheard = False, []
        if self._pending:
            self._left.append(self._pending)
            self._pending = ""
        self.ending.warnings.append(
            f"The call went on in '{bank.language}' in general words: the prompt is in '{spoken_before[:35]}'."
        )
        return bank.agent_says("language_switch", self._chance)

    def _follow(self, heard: Heard, wish: Wish, lead: str) -> Awaited | None:
        ending = self.ending
        if wish in FAREWELLS:
            if self.closing and ending.disposition == "do_not_call":
                return None
            calls = self._request.may_call_back
            phrase = ending.take_leave(wish, heard, self._bank.language, may_call_back=calls)
            return self._leave(joined(lead, self._bank.agent_says(phrase, self._chance)))
        if wish == "human":
            return self._hand_over(lead)
        if wish == "away":
            ending.disposition = "not_available"
            return self._leave(
                joined(self._filled(self._brief.identity), self._bank.agent_says("gatekeeper", self._chance))
            )
        if wish == "screening":
            return self._screened()
        if wish == "hold":
            ending.met_person = True
            self._line.wait(self._chance.between(2.5, 6.0))
            self._after_hold = True
            return "connected"
        if wish == "robot":
            return self._repeat(joined(lead, self._said_or_lead(self._bank.agent_says("robot", self._chance))))
        if wish == "question":
            return self._answered(heard.text, lead)
        if wish == "goodbye":
            self._say(self._bank.agent_says("goodbye", self._chance), own=False)
            ending.hangup_cause, ending.ended_by = "contact_hangup", "contact"
            return None
        if wish == "hurry":
            return self._repeat(joined(lead, self._lead("brief")))
        return self._went_along(wish, lead, cut_in=heard.cuts_in)

    def _hand_over(self, lead: str) -> Awaited | None:
        """Transfers a contact who wants a person, or says that one calls back."""
        self.ending.disposition = "escalated"
        if not self._destinations or self._transfers >= MOST_TRANSFERS:
            return self._leave(joined(lead, self._bank.agent_says("human", self._chance)))
        chosen = self._destinations[self._transfers % len(self._destinations)]
        self._transfers += 1
        self.destination = chosen
        phrase = chosen.say_before or self._bank.agent_says("transfer", self._chance)
        self._say(joined(lead, phrase), own=bool(chosen.say_before))
        return None if self._line.cut else "transfer"

    def ask_to_hold(self) -> None:
        """Says a word to a contact who waits for the person."""
        self._phrase("transfer_hold")

    def not_transferred(self) -> Awaited | None:
        """Nobody has taken over: says so, and goes on where the conversation was."""
        self.destination = None
        self.closing = False
        sorry = self._bank.agent_says("transfer_failed", self._chance)
        return self._repeat(self._said_or_lead(sorry))

    def _screened(self) -> Awaited | None:
        self.ending.met_person = False
        self.act = "statement"
        own = [] if self._brief.identity == "" else [self._brief.identity]
        self._say(self._filled(" ".join([*own, self._bank.agent_says("screening", self._chance)])), own=bool(own))
        return self._next_reply()

    def _answered(self, question: str, lead: str) -> Awaited | None:
        answer = None if self._general else answer_to(question, self._contact_brief(), self._bank)
        if answer is None and states_asked_time(self._pending, question, self._bank):
            answer = self._pending
        if answer is None:
            self.ending.unanswered_questions.append(question)
            self.no_answer = True
            answer = self._said_or_lead(self._bank.agent_says("no_answer", self._chance))
        elif answer in self._pending:
            answer = ""  # the open objective states it
        return self._repeat(joined(lead, answer))

    def _contact_brief(self) -> Brief:
        """The brief as it is for this contact."""
        if self._own_brief is None:
            brief, fill = self._brief, self._filled
            if brief.varies:
                brief = replace(brief, facts=filled_facts(brief.facts, self._bank, fill), identity=fill(brief.identity))
            self._own_brief = brief
        return self._own_brief

    def _went_along(self, wish: Wish, lead: str, *, cut_in: bool) -> Awaited | None:
        """Continues after an ordinary answer of the contact."""
        if self._after_hold:
            self._after_hold = False
            # The person who was called to the telephone has heard nothing yet.
            return self.open() if self._request.agent.welcome_message.strip() else self._go_on(self._introduce())
        if lead:
            return self._go_on(lead)
        if not self._line.agent_has_spoken:
            return self._go_on(self._introduce())
        if not self._pending:
            return self._go_on(self._lead("gladly") if self._incoming else "")
        if wish == "no_start" and self.act != "any":
            if self.act in ACCEPTING:
                self._refused += 1
            return self._go_on(self._lead("ack_no"), courtesy=True)
        if not cut_in and self._chance.happens(0.75):
            return self._go_on(self._lead("ack_yes" if self.act in ACCEPTING else "ack"), courtesy=True)
        return self._go_on()
