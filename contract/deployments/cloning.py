"""What a copy of a campaign is made of."""

from typing import Annotated

from pydantic import Field

from callwright.contract.declaration.model import Input
from callwright.contract.declaration.words import AgentId, AudienceId, DeploymentId, PhoneNumberId, UniqueName

PhoneNumberIds = Annotated[
    list[PhoneNumberId], Field(min_length=1, max_length=100, description="Numbers to call from, 1 to 100.")
]


class CloneDeployment(Input):
    """A copy of a campaign, as a draft of its own: the same settings, and nothing of what happened. Costs nothing.

    It has no start_at and no end_at, and whether it is simulated follows from its numbers.
    """

    id: DeploymentId
    name: UniqueName
    agent_id: Annotated[AgentId | None, Field(description="Another agent than the original's.")] = None
    audience_id: Annotated[AudienceId | None, Field(description="Another audience than the original's.")] = None
    phone_number_ids: Annotated[PhoneNumberIds | None, Field(description="Other numbers to call from.")] = None
