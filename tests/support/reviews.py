"""Compliance reviews, opened as the dialler opens them."""

from typing import Any

from callwright.service.dialling.stops import reviews
from callwright.service.dialling.stops.reviews import Concern
from tests.support.service import Tenant


async def open_review(tenant: Tenant, deployment_id: str, **fields: Any) -> str:
    """The id of a new review of a deployment, which blocks nothing unless told."""
    given: dict[str, Any] = {"category": "unknown_country", "subject_type": "deployment", "subject_id": deployment_id}
    given |= {"message": "Look at it.", "simulated": True, "blocking": False, **fields}
    concern = Concern(**given)
    services = tenant.services
    opened = await tenant.database.write(
        reviews.open_review,
        services.ids,
        tenant.org_id,
        concern,
        now_ms=services.clock.now_ms(),
        public_url=services.settings.public_url,
    )
    assert opened is not None
    return opened
