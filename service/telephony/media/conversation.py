"""How a live call goes: who speaks when, what ends it, and what is known about it then."""

import time
from collections.abc import Awaitable, Callable

from callwright.service.rules.opt_out_words import is_opt_out, is_opt_out_key
from callwright.service.telephony.engine import AnsweredBy, EndedBy, HangupCause, TurnSource
from callwright.service.telephony.media.callers.treatment import Treatment
from callwright.service.telephony.media.findings import CIRCLES, TOO_MANY_TURNS, End, Findings, Then
from callwright.service.telephony.media.machine_side import MachineSide
from callwright.service.telephony.media.messages import BeginCall, HangUp
from callwright.service.telephony.media.notices import Notices, opening_of
from callwright.service.telephony.media.patience import FAREWELL_S, LONGEST_SAYING_S, MOST_FAILURES
from callwright.service.telephony.media.policy import LivePolicy, Phrases, Saying, to_silence
from callwright.service.telephony.media.sound.sound_clock import SoundClock
from callwright.service.telephony.media.sound.sound_watch import SoundWatch
from callwright.service.telephony.media.sound.transport import AgentTurn
from callwright.service.telephony.media.talk import Voice
from callwright.service.telephony.media.tools.call_tools import CallTools
from callwright.service.telephony.media.tools.policy_tools import PolicyTools
from callwright.service.telephony.media.turns.contact_side import ContactSpeech, Entry, KeyEntries
from callwright.service.telephony.media.turns.transcript import AnswerTimes, Transcript


class Conversation:
    """One call from the answer to its end. `tick` it some ten times a second.

    It speaks through what `connect` gives. Without a model it answers by itself, by its policy.
    """

    voice: Voice
    _ask_model: Callable[[str | None], Awaitable[None]] | None = None
    _tools: CallTools
    _policy_tools: PolicyTools

    def __init__(
        self,
        begin: BeginCall,
        *,
        clock: SoundClock,
        transcript: Transcript,
        ended: Callable[[], None],
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        request = begin.request
        self._begin, self._limits, self._request = begin, begin.limits, request
        self._clock, self._transcript = clock, transcript
        self._ended, self._now = ended, now
        self.phrases, self._notices = Phrases(request), Notices("", request.agent.language)
        self.policy: LivePolicy | None = LivePolicy(request, transcript.heard_of)
        """The policy that answers; None with a model."""
        self.times = AnswerTimes(now)
        self.findings = Findings()
        self.treatment: Treatment | None = None  # what a caller gets first
        self.end: End | None = None
        self._goodbye: End | None = None
        self._goodbye_until: float | None = None
        self._farewell_until: float | None = None
        self._last_said: list[Saying] = []
        self._model_answers = False
        self._saying, self._saying_since, self._thinking_until = 0, 0.0, 0.0
        self._speech, self._keys = ContactSpeech(), KeyEntries()
        self._cut_in = self.is_deaf = False
        """Whether nothing that the other side says can be recognised any more."""
        self.met_person = False
        """Whether the other side said or entered anything that is no machine's greeting."""
        self._active_at = now()
        self._sound = SoundWatch(begin, self._active_at)
        self._silences = self._failures = 0
        self._machine = MachineSide(request, self.phrases, self.findings, self)

    def connect(
        self, voice: Voice, ask_model: Callable[[str | None], Awaitable[None]] | None, tools: CallTools
    ) -> None:
        """Speaks through this voice. `ask_model` gives the model what was typed, or asks it again; None: no model."""
        self.voice, self._ask_model, self._tools = voice, ask_model, tools
        self._policy_tools = PolicyTools(self, tools)
        if ask_model is not None:
            self.policy = None

    # -- what ends a call ---------------------------------------------------------------------------------------------

    def finish(self, cause: HangupCause, ended_by: EndedBy) -> None:
        """The call is over. The first cause counts."""
        if self.end is None:
            self.end = End(cause, ended_by)
            self._ended()

    async def hang_up(self, order: HangUp) -> None:
        """Ends the call, after the order's sentence if there is one."""
        if not order.sentence.strip() or self._goodbye is not None:
            self.finish(order.cause, order.ended_by)
            return
        self._goodbye = End(order.cause, order.ended_by)
        await self.voice.silence()
        await self.say(Saying(order.sentence, self._request.agent.language, "hang_up"))

    async def leave(self, saying: Saying, end: End) -> None:
        """Says something last."""
        if self._goodbye is None:
            self._goodbye = end
            await self.say(saying)

    async def tick(self) -> None:
        """Ends what has taken too long, and asks a silent contact whether it is there."""
        now, limits = self._now(), self._limits
        if self._clock.now_s() >= min(limits.longest_s, self._request.max_duration_s):
            self.finish("max_duration", "platform")
        elif (silent := self._sound.end(now)) is not None:
            self.finish(silent.cause, silent.ended_by)
        elif self._goodbye_until is not None and now > self._goodbye_until:
            self._said_goodbye()
        elif self._farewell_until is not None and now > self._farewell_until and not self._is_busy(now):
            self.finish("normal_clearing", "agent")
        elif self._transcript.goes_in_circles or self._transcript.turns >= limits.most_turns:
            self.findings.warn(CIRCLES if self._transcript.goes_in_circles else TOO_MANY_TURNS)
            self.finish("normal_clearing", "platform")
        if self.end is not None:
            return
        if (entry := self._keys.due(self._clock.now_s())) is not None:
            await self._enter(entry)
        if self.treatment is not None:
            await self.treatment.tick(now, hears=self._speech.is_heard)
        elif self._machine.is_met:
            await self._machine.tick(now, speaks=self._speech.is_heard)
        elif self._goodbye is None and self._farewell_until is None and not self._is_busy(now):
            await self._wait_for_contact(now)

    def _is_busy(self, now: float) -> bool:
        """Whether somebody speaks or thinks."""
        if self._saying and now - self._saying_since > LONGEST_SAYING_S:
            self._saying = 0
        busy = self._saying > 0 or self._speech.is_heard or self._keys.is_open or now < self._thinking_until
        busy = busy or self._tools.are_running
        if busy:
            self._active_at = now
        return busy

    async def _wait_for_contact(self, now: float) -> None:
        if now - self._active_at < self._limits.silence_s:
            return
        self._silences += 1
        sayings = to_silence(self.policy, self.phrases, self._silences)
        if self._silences == 1:
            await self.say_all(sayings)
        else:
            await self.leave(sayings[-1], End("inactivity_timeout", "platform"))

    # -- the agent speaks ---------------------------------------------------------------------------------------------

    async def answered(self) -> None:
        """The other side is there, or it is their turn: the agent says its first words."""
        self.treatment, self._active_at = None, self._now()
        self._sound.begins(self._active_at)
        first, self._notices = opening_of(self.policy, self.phrases, self._request.agent.language)
        await self.say_all(first)

    async def say_all(self, sayings: list[Saying]) -> None:
        """Says sentences as one answer: noise that interrupts it has it said again."""
        self._last_said, self._model_answers = sayings, False
        for saying in sayings:
            await self.say(saying)

    async def say(self, saying: Saying) -> None:
        """Says a sentence, after what is being said."""
        now = self._now()
        text = saying.shortened(self._limits.most_words)
        self._saying += 1
        self._saying_since = now
        if saying.then == "hang_up":
            self._goodbye_until = now + LONGEST_SAYING_S
        self.times.reached("words")
        await self.voice.say(text, language=saying.language, then=saying.then)

    @property
    def speaks(self) -> bool:
        """Whether the agent is saying something."""
        return self._saying > 0

    def agent_starts(self) -> None:
        """The first sound of a turn leaves."""
        self.times.reached("sound")

    def agent_said(self, turn: AgentTurn) -> None:
        """A turn with sound is over."""
        self._active_at = self._now()
        self._cut_in = turn.interrupted
        if turn.interrupted and not turn.text:
            return  # not a word of it was heard
        self._notices.said(turn.text)
        index = self._transcript.add(
            "agent",
            turn.text,
            start_s=turn.start_s,
            end_s=turn.end_s,
            language=turn.language,
            source=turn.source,
            interrupted=turn.interrupted,
        )
        if (parts := self.times.parts_ms()) is not None:
            self._transcript.answered(index, parts)

    def agent_is_done(self, then: Then) -> None:
        """All of a turn was said."""
        self._saying = max(self._saying - 1, 0)
        self._active_at = self._now()
        self._machine.agent_is_done(then)
        if then == "hang_up":
            self._said_goodbye()
        elif then == "farewell":
            self._farewell_until = self._now() + FAREWELL_S

    def interrupted(self) -> None:
        """Nothing of what was to be said will be said. A goodbye that was interrupted was said."""
        self._cut_in = self._cut_in or self._now() < self._thinking_until
        self._saying = 0
        self._thinking_until = 0.0
        if self._goodbye_until is not None:
            self._said_goodbye()

    def _said_goodbye(self) -> None:
        end = self._goodbye or End("normal_clearing", "agent")
        self.finish(end.cause, end.ended_by)

    def first_words(self) -> None:
        """The model begins its answer."""
        self._failures = 0
        self._thinking_until = 0.0
        self._saying += 1
        self._saying_since = self._now()
        self.times.reached("words")

    async def no_answer(self, reason: str) -> None:
        """The model gave no answer: the fallback sentence takes its place. The third time in a row ends the call."""
        self.findings.warn(reason)
        self._failures += 1
        self._thinking_until = 0.0
        if self.is_over:
            return
        if self._failures >= MOST_FAILURES:
            self.finish("platform_error", "platform")
        else:
            await self.say(self.phrases.fallback(self._begin.fallback_sentence))

    # -- the other side speaks ----------------------------------------------------------------------------------------

    def sound(self, pcm: bytes) -> None:
        """Sound of the other side came."""
        now = self._now()
        self._sound.sound(now)
        self._machine.hear(pcm, now)

    def holds(self) -> None:
        """The other side has put the call on hold: its silence means nothing."""
        self._active_at = self._now()
        self._sound.begins(self._active_at)

    def speech_starts(self, at_s: float) -> None:
        """The other side begins to speak."""
        self._active_at = self._now()
        self._speech.starts(at_s)

    def speech_ends(self, at_s: float, *, ago_s: float) -> None:
        """The other side stopped speaking."""
        self._active_at = self._now()
        self._speech.ends(at_s)
        self._machine.speech_ended(self._active_at - ago_s)
        self.times.speech_ended(ago_s)

    def transcribed(self, text: str) -> None:
        """Words of the other side were recognised."""
        self._active_at = self._now()
        self.times.reached("heard")
        self._speech.recognised(text)

    async def aside(self, text: str) -> None:
        """Words were said while the agent spoke, too few to interrupt it. Asking for no more calls is enough."""
        self._record()
        if is_opt_out(text, self._request.agent.language):
            await self.voice.silence()
            await self._answer(text)

    def _record(self) -> None:
        """Notes what was heard as a turn."""
        spoken = self._speech.take(self._clock.now_s())
        if spoken is not None:
            self._note(spoken.text, spoken.start_s, spoken.end_s, source="stt")

    def _note(self, text: str, start_s: float, end_s: float, *, source: TurnSource, keys: str = "") -> None:
        self._silences = 0
        language = self._request.agent.language
        self._transcript.add("contact", text, start_s=start_s, end_s=end_s, language=language, source=source, keys=keys)

    async def nothing_heard(self) -> None:
        """Noise interrupted the agent: it says again what it said, or the model is asked again."""
        if self.is_deaf and not self._sound.had_message and not self._machine.is_met:
            await self.leave(self.phrases.of("no_voice", then="hang_up"), End("platform_error", "platform"))
        if not self._cut_in or self.is_over or self._machine.is_met:
            return
        self._cut_in = False
        if self._ask_model is not None and self._model_answers:
            await self._ask_model(None)
        else:
            await self.say_all(self._last_said)

    async def turn(self, text: str) -> bool:
        """A turn of the other side is over. Returns whether the model answers it."""
        self._record()
        return await self._answer(text)

    async def typed(self, text: str) -> None:
        """The other side typed a turn."""
        await self._take_floor()
        now_s = self._clock.now_s()
        self._note(text, now_s, now_s, source="human")
        await self._answer_or_ask(text)

    async def keys(self, digits: str) -> None:
        """The other side pressed keys."""
        entry = self._keys.press(digits, self._clock.now_s())
        if entry is not None:
            await self._enter(entry)

    async def _enter(self, entry: Entry) -> None:
        await self._take_floor()
        self._note("", entry.start_s, entry.end_s, source="human", keys=entry.keys)
        await self._answer_or_ask(f"[{entry.keys}]", keys=entry.keys)

    async def _take_floor(self) -> None:
        """What is typed or entered interrupts the agent, but not its goodbye."""
        self._sound.message()
        self._active_at = self._now()
        if self._saying and self._goodbye is None:
            await self.voice.silence()

    async def _answer_or_ask(self, text: str, *, keys: str = "") -> None:
        """Answers what was not spoken."""
        if await self._answer(text, keys=keys) and self._ask_model is not None:
            await self._ask_model(text)

    async def _answer(self, text: str, *, keys: str = "") -> bool:
        """Answers a turn, or returns that the model does."""
        cut_in, self._cut_in = self._cut_in, False
        treated = self.treatment is not None and self.treatment.heard(text, keys=keys)
        if self.is_over or treated or self._machine.is_met or self._tools.hold_contact:
            return False
        if not keys and await self._machine.takes(text, self._now()):
            return False
        self.met_person = True
        self._farewell_until = None
        opts_out = is_opt_out_key([keys]) if keys else is_opt_out(text, self._request.agent.language)
        self.times.reached("asked")
        owed, are_the_answer = ((), False) if opts_out or keys else self._notices.due(text)
        for saying in owed:
            await self.say(saying)
        if are_the_answer:
            return False
        if self.policy is not None:
            if not opts_out and self._policy_tools.take("" if keys else text):
                return False
            sayings = self.policy.hear("" if keys else text, keys=keys, cuts_in=cut_in)
            if opts_out:
                self.findings.disposition = "do_not_call"
            if not sayings:
                self.finish("normal_clearing", "agent")
            await self.say_all(sayings)
            return False
        if opts_out:
            self.findings.disposition = "do_not_call"
            await self.leave(self.phrases.of("opt_out", then="hang_up"), End("normal_clearing", "agent"))
            return False
        self._model_answers = True
        self._thinking_until = self._now() + self._limits.answer_s + 1.0
        await self.voice.expect_answer()
        return True

    # -- a machine answers --------------------------------------------------------------------------------------------

    async def saw(self, answered_by: AnsweredBy) -> None:
        """The carrier says who answered."""
        await self._machine.saw(answered_by, self._now())

    @property
    def yields(self) -> bool:
        """Whether the agent lets itself be interrupted. It does not while it leaves a message on a machine."""
        return self._machine.yields and not (self.treatment and self.speaks)

    @property
    def says_goodbye(self) -> bool:
        """Whether the agent says its last words."""
        return self._goodbye is not None

    @property
    def is_over(self) -> bool:
        """Whether the call has ended, or the agent says its last words."""
        return self.end is not None or self._goodbye is not None

    async def silence(self) -> None:
        """The agent says no more of what it was saying."""
        await self.voice.silence()
