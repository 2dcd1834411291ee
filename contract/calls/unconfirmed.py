"""Calls of which nobody knows whether they rang: a person says so."""

from typing import Annotated

from pydantic import Field

from callwright.contract.calls.calls import Call, CallUuid
from callwright.contract.declaration.model import Input
from callwright.contract.declaration.operation import operation
from callwright.contract.problems import INVALID_STATE_TRANSITION


class ResolveCall(Input):
    """What a person has found out about a call, for example in the carrier's list of calls."""

    call_uuid: CallUuid
    placed: Annotated[
        bool,
        Field(
            description=(
                "true: the telephone rang, and this campaign does not call the contact again. "
                "false: it did not; the contact is called as if there had been no such call."
            )
        ),
    ]


resolve_call = operation(
    "resolve_call",
    "POST /calls/{call_uuid}/resolve",
    takes=ResolveCall,
    gives=Call,
    problems=(INVALID_STATE_TRANSITION,),
    summary="Say whether a call with the cause unconfirmed was placed; until then its contact is held.",
)
