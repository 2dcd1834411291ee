"""Inbound deployments: a rented number whose callers an agent answers. What is said of one, when it is made or read."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from callwright.contract.declaration.changes import TO_NOTHING, Changes
from callwright.contract.declaration.field_types import (
    AgentId,
    MaxConcurrency,
    Metadata,
    PhoneNumberId,
    UniqueName,
)
from callwright.contract.declaration.model import Part, Resource
from callwright.contract.declaration.revisions import Expecting
from callwright.contract.deployments.dialling import TimeZone, Window
from callwright.contract.forwarding import ForwardTo, checked_forward

RecordingEnabled = Annotated[bool, Field(description="Record the calls.")]


class BusinessHours(Part):
    """When callers are answered. Left out of a deployment: at any time."""

    timezone: TimeZone
    windows: Annotated[list[Window], Field(min_length=1, max_length=21, description="When callers are answered.")]


class AfterHours(Part):
    """What happens to who calls outside the business hours."""

    action: Annotated[
        Literal["reject", "voicemail", "forward"],
        Field(description="Refuse the call, take a message, or forward it to `forward_to`."),
    ] = "reject"
    forward_to: ForwardTo | None = None

    _has_number = model_validator(mode="after")(checked_forward)


class Overflow(Part):
    """What happens to who calls while max_concurrency calls are under way."""

    action: Annotated[
        Literal["queue", "forward", "busy"],
        Field(description="Let the caller wait, forward the call to `forward_to`, or give the busy tone."),
    ] = "busy"
    forward_to: ForwardTo | None = None

    _has_number = model_validator(mode="after")(checked_forward)


class Inbound(Resource):
    """How an inbound deployment takes calls."""

    phone_number_id: Annotated[str, Field(description="The number that is called.")]
    business_hours: Annotated[BusinessHours | None, Field(description="Null: callers are answered at any time.")] = None
    after_hours: AfterHours
    overflow: Overflow
    recording_enabled: RecordingEnabled


class AnsweringChanges(Changes):
    """Changes to how an inbound deployment takes calls. What is left out stays; `business_hours` null: at any time."""

    business_hours: Annotated[
        BusinessHours | None, Field(description="When callers are answered; null: at any time."), TO_NOTHING
    ] = None
    after_hours: AfterHours | None = None
    overflow: Overflow | None = None
    recording_enabled: RecordingEnabled | None = None


ANSWERING = tuple(AnsweringChanges.changing())
"""What is said of an inbound deployment beside the fields that campaigns have too."""


class InboundChanges(AnsweringChanges):
    """The same changes as a deployment shows them."""

    phone_number_id: Annotated[
        PhoneNumberId | None, Field(description="As it is: another number is answered by another deployment.")
    ] = None


class CreateInboundDeployment(Expecting):
    """A new inbound deployment. It is active at once: from then on the agent answers who calls the number.

    On the simulated network `simulate_inbound_call` has people call it.
    """

    name: UniqueName
    agent_id: AgentId
    phone_number_id: PhoneNumberId
    business_hours: BusinessHours | None = None
    after_hours: AfterHours = AfterHours()
    max_concurrency: MaxConcurrency = 10
    overflow: Overflow = Overflow()
    recording_enabled: RecordingEnabled = True
    metadata: Metadata = {}
