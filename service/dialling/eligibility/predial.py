"""The pre-dial check: before a call, an address of the customer says whether the person may be called.

It fails closed: without an answer that counts, nobody is dialled.
"""

from dataclasses import dataclass
from typing import Literal, Protocol

from callwright.service.dialling.eligibility.gate import Allowed, NeverReason
from callwright.service.platform.clock.clock import MINUTE

PREDIAL_DECLINED: NeverReason = "predial_declined"
"""Why a contact is suppressed: the address said no."""
PREDIAL_LATER = "predial_later"
"""The rule that defers a contact for as long as the address said."""
PREDIAL_UNAVAILABLE = "predial_unavailable"
"""Why a deployment is paused: the address gave no answer that counts, several times in a row."""
AGAIN_MS = 5 * MINUTE
"""How long a contact waits if there was no answer that counts."""
VALID_MS = MINUTE
"""How long a yes holds, by the service's time and by the deployment's clock."""
MOST_ASKED = 20
"""The most calls of one round, and so the most questions that a deployment has under way."""
MOST_REASON = 200
"""The most characters of a reason."""
LEAST_RETRY_S, MOST_RETRY_S = 60, 30 * 86_400


@dataclass(frozen=True, kw_only=True)
class Question:
    """A call that is about to be dialled, at `dial_ms` on the deployment's clock, and the address to ask."""

    url: str
    org_id: str
    deployment_id: str
    contact_id: str
    attempt: int
    to: str
    from_: str
    simulated: bool
    dial_ms: int


@dataclass(frozen=True)
class Declined:
    """The person may not be called in this campaign. `reason` is what the address said."""

    reason: str = ""


@dataclass(frozen=True)
class Later:
    """The person may not be called before `after_s` have passed; then the address is asked again."""

    after_s: int


Failure = Literal[
    "no_answer", "redirected", "wrong_status", "too_long", "unreadable", "forbidden_address", "cannot_ask"
]


@dataclass(frozen=True)
class Unanswered:
    """There is no answer that counts."""

    why: Failure


PredialAnswer = Allowed | Declined | Later | Unanswered


class PredialCheck(Protocol):
    """Asks the customer's address about one call."""

    async def ask(self, question: Question) -> PredialAnswer:
        """The answer, within two seconds. Raises nothing for what an address does."""
        ...


class NobodyToAsk:
    """The check of a process that cannot ask anybody: nothing is answered, so nobody is dialled."""

    async def ask(self, question: Question) -> PredialAnswer:
        """No answer that counts."""
        return Unanswered("cannot_ask")
