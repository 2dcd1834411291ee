"""A conversation between the agent's policy and a contact, in virtual time."""

from collections.abc import Sequence

from callwright.service.telephony.engine import CallRequest
from callwright.service.telephony.simulated.chance import Chance
from callwright.service.telephony.simulated.conversation.agent_policy import AgentPolicy
from callwright.service.telephony.simulated.conversation.contact import Contact, Reply
from callwright.service.telephony.simulated.conversation.ending import Ending
from callwright.service.telephony.simulated.conversation.line import Awaited, Heard
from callwright.service.telephony.simulated.conversation.rehearsed_tools import answer_of, called
from callwright.service.telephony.simulated.conversation.timeline import Timeline
from callwright.service.telephony.simulated.person import Person, rehearsed_transfer
from callwright.service.telephony.transfers import CallTransfer, Destination

MAX_REPLIES = 80
SILENCE_S = 5.0
KEYPRESS_S = 0.5
"""How long an entry with the keys of a telephone takes."""


class Conversation:
    """One call between pick-up and hang-up. `run` it once. A contact who wants it is transferred to the `person`, if
    there are `destinations`."""

    def __init__(
        self,
        request: CallRequest,
        contact: Contact,
        timeline: Timeline,
        chance: Chance,
        *,
        person: Person,
        destinations: Sequence[Destination] = (),
    ) -> None:
        self._contact = contact
        self._timeline = timeline
        self._chance = chance
        self._person = person
        self._from = request.from_ if request.answering is None else request.to
        self._policy = AgentPolicy(request, timeline, chance, destinations=destinations)
        self.transfer: CallTransfer | None = None
        """The last try to transfer the call."""

    def run(self) -> Ending:
        """Runs the conversation until somebody hangs up or the time is over."""
        policy, ending = self._policy, self._policy.ending
        reply = self._reply_to(policy.open())
        silences = 0
        for _ in range(MAX_REPLIES):
            if self._timeline.cut or reply is None:
                break
            if reply.text or reply.keys:
                silences = 0
                reply = self._heard(reply)
                continue
            if reply.hangs_up:
                policy.hung_up()
                break
            silences += 1
            self._timeline.wait(SILENCE_S)
            if silences > 2:
                policy.give_up()
                break
            reply = self._reply_to(policy.ask_whether_there(silences))
        if self._timeline.cut and ending.hangup_cause != "contact_hangup":
            ending.hangup_cause, ending.ended_by = "max_duration", "platform"
        return ending

    def _reply_to(self, awaited: Awaited | None) -> Reply | None:
        policy, contact = self._policy, self._contact
        if awaited == "reply":
            unanswered, policy.no_answer = policy.no_answer, False
            return contact.reply(
                policy.said, policy.act, heard_s=policy.heard_s, left=policy.left, unanswered=unanswered
            )
        if awaited == "farewell":
            return contact.farewell()
        if awaited == "connected":
            return contact.connected()
        if awaited == "transfer":
            return self._reply_to(self._transferred())
        return None if awaited is None else contact.opening()

    def _transferred(self) -> Awaited | None:
        """Calls the person, while the contact holds. Nothing is awaited once the person has taken over."""
        policy, timeline, destination = self._policy, self._timeline, self._policy.destination
        assert destination is not None
        hold = policy.ask_to_hold if destination.kind == "warm" else None
        self.transfer = transfer = self._person.called(destination, timeline, self._from, hold)
        if destination.to is not None:
            timeline.tool_called(rehearsed_transfer(transfer))
        return None if transfer.is_bridged or timeline.cut else policy.not_transferred()

    def _heard(self, reply: Reply) -> Reply | None:
        timeline, contact = self._timeline, self._contact
        share = self._chance.between(0.3, 0.7)
        # A contact that stays on the line hears the notices before it interrupts.
        kept = "" if reply.hangs_up else self._policy.notices
        cut_in = reply.cuts_in and timeline.cut_in(share, at_least=kept)
        if reply.keys:
            timeline.wait(reply.gap_s + KEYPRESS_S)
            self._policy.ending.keys.append(reply.keys)
        timeline.say("contact", reply.text, contact.language, gap_s=reply.gap_s)
        if timeline.cut:
            return None
        heard = Heard(
            text=reply.text,
            language=contact.language,
            keys=reply.keys,
            hangs_up=reply.hangs_up,
            cuts_in=cut_in,
            language_wanted=reply.language_wanted,
            callback_after_s=reply.callback_after_s,
            has_more=contact.has_script,
        )
        use = self._policy.tool_for(heard)
        if use is None:
            return self._reply_to(self._policy.hear(heard))
        timeline.tool_called(called(use))
        return self._reply_to(self._policy.told(use, ok=True, answer=answer_of(use)))
