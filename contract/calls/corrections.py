"""The disposition of a call, corrected: a person judges a conversation otherwise than the agent did."""

from typing import Annotated

from pydantic import Field

from callwright.contract.calls.calls import Call, CallUuid, Disposition
from callwright.contract.checks.names import Text
from callwright.contract.declaration.marks import OWN
from callwright.contract.declaration.model import Input
from callwright.contract.declaration.operation import operation
from callwright.contract.problems import INVALID_STATE_TRANSITION


class CorrectDisposition(Input):
    """What a person makes of a conversation, having heard or read it.

    Lists, statistics and the campaign's counters follow; what is planned for the contact stays. `do_not_call` puts the
    person's number on the do-not-call list for good. Nothing else takes it off: remove_do_not_call does.
    """

    call_uuid: CallUuid
    disposition: Annotated[Disposition, Field(description="The right one; the agent's own again confirms it.")]
    note: Annotated[Text, OWN, Field(description="Why, for people who read it later. No telephone number.")] = ""


correct_disposition = operation(
    "correct_disposition",
    "POST /calls/{call_uuid}/disposition",
    takes=CorrectDisposition,
    gives=Call,
    problems=(INVALID_STATE_TRANSITION,),
    summary="Correct the disposition of a call that was answered and has ended; the agent's own is kept beside it.",
)
