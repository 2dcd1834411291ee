"""What a call cost, part by part."""

from typing import Annotated, Literal

from pydantic import Field

from callwright.contract.declaration.field_types import Money
from callwright.contract.declaration.marks import OwnText
from callwright.contract.declaration.model import Resource

CostStatus = Literal["known", "capped", "pending", "estimated", "unpriced", "not_charged"]


class CostItem(Resource):
    """One part of a call's cost."""

    item: Annotated[
        OwnText,
        Field(
            description="telephony, platform, transfer (to a person), stt (hearing), llm (thinking) or tts (speaking)."
        ),
    ]
    quantity: Annotated[float, Field(description="How many units were used.")]
    unit: OwnText
    amount: Annotated[
        OwnText | None, Field(description="What the wallet is charged; null: nothing, and status says why. Not free.")
    ] = None
    status: Annotated[
        CostStatus | None,
        Field(
            description=(
                "known; capped: more was used than the list charges for; pending: the list's price until the carrier "
                "says its own; estimated: it never did; unpriced: no price list has it; not_charged: the provider "
                "charges your own account, or the call was free."
            )
        ),
    ] = None
    priced_by: Annotated[
        OwnText | None, Field(description="Whose price it is: agreed (per minute), price_list or carrier.")
    ] = None
    provider: Annotated[OwnText | None, Field(description="The carrier, or the kind of the service.")] = None
    model: OwnText | None = None
    carrier_charged: Annotated[
        Money | None, Field(description="What the carrier says it charged. At most the list's price is passed on.")
    ] = None


class CallCost(Resource):
    """What a call cost."""

    amount: OwnText
    currency: OwnText
    breakdown: list[CostItem]
