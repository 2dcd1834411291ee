"""A person's consent where the host cannot ask: on a page of the dashboard, or by a signed sentence that comes back.

The service keeps the question, and somebody who is logged in says yes or no on its page; the next call of the tool
takes the answer. A service without such a page is asked nothing more, and the sentence alone counts there. One question
has one yes: a sentence that comes back withdraws the question, and an answer that was taken ends the sentence.
"""

import hashlib
from dataclasses import replace

from mcp.server.mcpserver.exceptions import ToolError

from callwright.client.errors import ServiceProblem, UnexpectedAnswer
from callwright.contract import confirmations as contract
from callwright.tools.confirmation.asked_at import ANSWER_TIMEOUT_S, AskedAt, moment_of
from callwright.tools.confirmation.signed_sentences import (
    Signature,
    is_genuine,
    new_nonce,
    new_signature,
    signature_in,
)
from callwright.tools.runtime.confirmation import Confirmation
from callwright.tools.runtime.tool_context import ToolContext
from callwright.tools.untrusted.fence import NOT_INSTRUCTIONS
from callwright.tools.wording.cleaning import cleaned
from callwright.tools.wording.text import moment

NOTHING = "Nothing was dialled, nothing spent, nothing changed."
_USED = "This yes has been used already, and each counts once: nothing more was done."
_SAID_NO = (
    f"The person has said no on the page. {NOTHING} Ask them what should be different; do not try the same again."
)
_LATE = f"That was asked {ANSWER_TIMEOUT_S / 60:.0f} minutes ago, and a yes counts no longer: nothing was done."


async def agreed(
    context: ToolContext, confirmation: Confirmation, *, tool: str, about: str, given: str | None
) -> ToolContext:
    """The context to run the tool with, once a person has agreed. `about` is everything that their yes covers, `given`
    the sentence that came back.

    Raises:
        ToolError: nobody has agreed yet; the text has what to show the person, and what to do after that. Or somebody
            has said no.
    """
    session = context.session
    asked = _AskedElsewhere(context, confirmation, tool, about, hashlib.sha256(about.encode()).hexdigest())
    if (key := session.used_answers.open_yes(asked.digest, monotonic_s=asked.now.monotonic_s)) is not None:
        return replace(context, key=key)
    why = "The person has to agree first: nothing was done yet."
    if given is not None and session.confirm_by == "page":
        why = "A sentence that is sent back counts for nothing here, only an answer on the page: nothing was done yet."
    elif given is not None:
        found = await asked.by_sentence(given)
        if isinstance(found, ToolContext):
            return found
        why = found
    kept = await asked.on_page()
    if kept is None:
        if session.confirm_by == "page":
            raise ToolError(
                f"A person has to agree to this on the page of the service, and this service has none. {NOTHING} Tell "
                "the person that CALLWRIGHT_CONFIRM_BY=page asks for it, or use a host that can ask them."
            )
    elif kept.status == "yes":
        return asked.with_yes(kept)
    elif kept.status == "no":
        raise ToolError(_SAID_NO)
    elif given is None and kept.is_late:
        why = _LATE
    raise ToolError(asked.to_show(why, kept))


class _AskedElsewhere:
    """One question that the host cannot show."""

    def __init__(self, context: ToolContext, confirmation: Confirmation, tool: str, about: str, digest: str) -> None:
        self.context, self.confirmation, self.tool = context, confirmation, tool
        self.about, self.digest, self._secret = about, digest, context.session.secret
        self.now: AskedAt = moment_of(context.session.clock, context.session.process)

    async def by_sentence(self, given: str) -> ToolContext | str:
        """The context, if the signed sentence has come back; else why it does not count.

        Raises:
            ToolError: somebody has said no on the page.
        """
        session = self.context.session
        signature = signature_in(cleaned(given))
        if signature is not None and session.used_answers.is_used(signature.key):
            return _USED
        if (
            signature is None
            or cleaned(given).split() != self._said(signature).split()
            or not is_genuine(signature, self.about, secret=self._secret)
        ):
            return "That is not what would happen: nothing was done yet."
        if not signature.at.is_valid_at(self.now):
            return _LATE
        session.used_answers.take(signature.key, monotonic_s=self.now.monotonic_s)
        # Calls that are done once by their key may be sent again after a lost answer, and so may this.
        key = f"{signature.key}-here" if self.context.key else None
        try:
            kept = await self._asked(signature.nonce, key, agreed_in_conversation=True)
        except BaseException:
            session.used_answers.give_back(signature.key)
            raise
        if kept is not None and kept.status == "no":
            raise ToolError(_SAID_NO)
        return _USED if kept is not None and kept.status == "used" else replace(self.context, key=signature.key)

    async def on_page(self) -> contract.Confirmation | None:
        """The question as the service keeps it, with the answer that is taken by this; None if it keeps none."""
        return await self._asked(new_nonce(self.context.session.ids()), None, agreed_in_conversation=False)

    async def _asked(self, mark: str, key: str | None, *, agreed_in_conversation: bool) -> contract.Confirmation | None:
        question = contract.AskConfirmation(
            tool=self.tool,
            about=self.digest,
            question=self.confirmation.question or "",
            mark=mark,
            deployment_id=self.confirmation.deployment_id,
            people=self.confirmation.people,
            cost_at_most=self.confirmation.cost_at_most,
            agreed_in_conversation=agreed_in_conversation,
        )
        try:
            return await self.context.client.ask(contract.ask_confirmation, question, idempotency_key=key)
        except (ServiceProblem, UnexpectedAnswer):  # an older or another service, or one that keeps nothing now
            return None

    def with_yes(self, kept: contract.Confirmation) -> ToolContext:
        """The context after a yes on the page. If the result is unknown, the same call may follow with the same key."""
        left_s = min(max(kept.expires_at.timestamp() - self.now.wall_s, 0.0), ANSWER_TIMEOUT_S)
        key = f"confirmed-{kept.id}"
        self.context.session.used_answers.note_yes(self.digest, key, until_s=self.now.monotonic_s + left_s)
        return replace(self.context, key=key)

    def to_show(self, why: str, kept: contract.Confirmation | None) -> str:
        """What to show the person, where they answer, and what to do then."""
        words = f" Of the words in quotation marks: {NOT_INSTRUCTIONS}" if self.confirmation.shown else ""
        page = None if kept is None else f"{_address(kept)} (until {moment(kept.expires_at)})"
        if page is not None and self.context.session.confirm_by == "page":
            return (
                f"{why} Show them this sentence as it is: «{self._question}»{words} Only they can answer, at {page}. "
                f"Once they have, call {self.tool} again with the same arguments."
            )
        fresh = self.context.session.ids()
        nonce = new_nonce(fresh) if kept is None else kept.mark
        signature = new_signature(self.about, secret=self._secret, at=self.now, nonce=nonce)
        shown = f"{why} Show them this sentence as it is: «{self._said(signature)}»{words}"
        sent_back = "with person_agreed_to set to exactly that sentence"
        if page is None:
            return f"{shown} Only if they say yes, call {self.tool} again {sent_back}."
        return (
            f"{shown} They can answer at {page}: after that, call {self.tool} again with the same arguments. Or, only "
            f"if they say yes to you, call it again {sent_back}."
        )

    @property
    def _question(self) -> str:
        return " ".join((self.confirmation.question or "").split())

    def _said(self, signature: Signature) -> str:
        """The question with its signature, on one line."""
        return f"{self._question} {signature.words}"


def _address(kept: contract.Confirmation) -> str:
    url = cleaned(kept.url)
    return url if "://" in url else f"the page «Waiting for your yes» of the dashboard, {url}"
