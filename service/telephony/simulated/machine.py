"""Calls that a machine answers: voicemail and menus."""

from callwright.contract.calls.calls import Disposition, Outcome
from callwright.service.rules.templates import render
from callwright.service.telephony.engine import AnsweredBy, CallRequest, EndedBy, HangupCause
from callwright.service.telephony.simulated.chance import Chance
from callwright.service.telephony.simulated.conversation.facts import news_of
from callwright.service.telephony.simulated.conversation.phrases import bank_of, bank_or_english
from callwright.service.telephony.simulated.conversation.prompts import read_prompt
from callwright.service.telephony.simulated.conversation.timeline import Timeline
from callwright.service.telephony.simulated.conversation.welcome import filled, notices_of, read_welcome
from callwright.service.telephony.simulated.steering import Steering

MachineEnd = tuple[Outcome, Disposition | None, HangupCause, EndedBy, AnsweredBy]

NO_MESSAGE = "There is neither a voicemail message nor a welcome message: a general one was left."


def leave_on_machine(
    request: CallRequest,
    timeline: Timeline,
    *,
    language: str,
    words: Chance,
    steering: Steering,
    warnings: list[str],
) -> MachineEnd:
    """Reacts to the machine's greeting as the voicemail policy says. A steered outcome overrides the policy.

    A steered greeting is said word for word; the rest of the call is the same as with a greeting of the language.
    """
    policy, forced = request.voicemail, steering.outcome
    bank = bank_or_english(language)
    own = language if bank_of(language) else bank.language
    greeting = bank.contact_says("voicemail_greeting", "plain", words)
    if steering.greeting:
        greeting, own = steering.greeting, language
    timeline.say("contact", greeting, own, gap_s=words.between(0.4, 1.0))
    beeps = words.happens(0.8)
    answered_by: AnsweredBy = "machine_end_beep" if beeps else "machine_end_silence"
    action = policy.action if policy.detection else "continue"
    if forced == "voicemail":
        action = "hangup"
    elif forced == "voicemail_left" and action == "hangup":
        action = "leave_message"
    timeline.wait(words.between(0.5, 1.2))
    if action == "hangup":
        return "voicemail", None, "agent_hangup", "agent", answered_by
    text, language_said = message_for_machine(request, words, as_person=action == "continue", warnings=warnings)
    timeline.say("agent", text, language_said, gap_s=0.6)
    if action == "leave_message" or forced == "voicemail_left":
        return "voicemail_left", None, "agent_hangup", "agent", answered_by
    agent_bank = bank_or_english(request.agent.language)
    brief = read_prompt(request.agent.system_prompt, agent_bank)
    lines = [filled(line, request) for line in brief.objectives[:1]]
    if bank_of(request.agent.language):
        lines = news_of(brief.facts, agent_bank, lambda line: filled(line, request), alone=not lines) + lines
    if lines:
        timeline.wait(4.0)
        timeline.say("agent", " ".join(dict.fromkeys(lines)), request.agent.language, gap_s=0.6)
    timeline.wait(5.0)
    timeline.say("agent", agent_bank.agent_says("no_voice", words), language_said, gap_s=0.5)
    cause: HangupCause = "inactivity_timeout"
    if policy.detection:
        # The machine was detected and has recorded what the agent said.
        return "voicemail_left", None, cause, "platform", answered_by
    return "answered", "incomplete", cause, "platform", "unknown"


def message_for_machine(
    request: CallRequest, words: Chance, *, as_person: bool = False, warnings: list[str]
) -> tuple[str, str]:
    """What the agent says to a machine, and in which language: its message, else its welcome, else general words.

    `as_person` speaks to it as to a person, with the welcome message. The request has plain placeholders.
    """
    agent = request.agent
    message = "" if as_person else request.voicemail.message.strip()
    if message:
        text = render(message, request.variables).text.strip()
        if text:
            return text, agent.language
    bank = bank_or_english(agent.language)
    welcome = agent.welcome_message.strip()
    if welcome:
        opening = read_welcome(welcome, bank)
        notices = notices_of(request, bank, words, discloses=opening.discloses) if bank_of(agent.language) else ()
        if notices:
            welcome = opening.with_notices(*notices)
        text = render(welcome, request.variables).text.strip()
        if text:
            return text, agent.language
    if not as_person:
        warnings.append(NO_MESSAGE)
    language = agent.language if bank_of(agent.language) else bank.language
    return bank.agent_says("voicemail_fallback", words), language


def meet_menu(request: CallRequest, timeline: Timeline, *, language: str, words: Chance) -> None:
    """A recorded menu answers; the agent listens and hangs up."""
    bank = bank_or_english(language)
    own = language if bank_of(language) else bank.language
    timeline.say("contact", bank.contact_says("ivr", "plain", words), own, gap_s=0.5)
    timeline.wait(words.between(1.0, 2.0))
