"""The sentence about the approval of a compliance review, after which people may be called again."""

from typing import Any, cast

from callwright.contract.checks.names import quoted
from callwright.contract.compliance_reviews import (
    DecideComplianceReview,
    GetComplianceReview,
    get_compliance_review,
)
from callwright.tools.references.looked_up import looked_up
from callwright.tools.runtime.confirmation import Confirmation
from callwright.tools.runtime.tool_context import ToolContext

_NOTE_SHOWN = 200


async def decide(context: ToolContext, asked: DecideComplianceReview) -> Confirmation | None:
    """Approving a review that waits for a decision. Nobody is asked about a rejection, after which nobody is called."""
    if asked.decision == "reject":
        return None
    review = await looked_up(context, get_compliance_review, GetComplianceReview(id=asked.id))
    if not context.asks(real=review.get("simulated") is not True):
        return None
    if review.get("status") not in ("open", "expired"):
        return None
    subject = cast("dict[str, Any]", review.get("subject") or {})
    note = f" The note: {quoted(asked.note, most=_NOTE_SHOWN)}." if asked.note else ""
    return Confirmation(
        sentence=(
            f"Approve the compliance review {asked.id} ({review.get('category')}) about {subject.get('id')}, so that "
            f"its people may be called. It says: {quoted(str(review.get('message')), most=500)}.{note}"
        )
    )
