"""Showing a number whole on the page that asks for it: members and owners may, and the audit log says who did."""

from callwright.contract.problems import FORBIDDEN
from callwright.service.accounts.principals import UserActor
from callwright.service.dashboard.visitors import Visitor
from callwright.service.handlers.people.whole_numbers import NumberPlace, number_of, reveal
from callwright.service.platform.refusals import Refusal
from callwright.service.services import Services


async def revealed(services: Services, visitor: Visitor, place: NumberPlace) -> str:
    """The whole number, once it is written down who sees it. Raises `Refusal`: forbidden for a viewer, not_found."""
    if not visitor.may_change:
        words = "Only members and owners see whole numbers. Your role is viewer."
        raise Refusal(FORBIDDEN, words)
    by, now_ms = UserActor(visitor.user_id), services.clock.now_ms()
    return await services.database.write(reveal, services.ids, visitor.org_id, place, by=by, now_ms=now_ms)


async def hidden_number(services: Services, visitor: Visitor, place: NumberPlace) -> str:
    """The number, for asking operations with it and never for a page. Raises `Refusal`: not_found."""
    return await services.database.read(number_of, visitor.org_id, place)
