"""Where an agent may not hand its calls over, by what the database knows: other countries, numbers from which agents
call, and who is not called."""

from collections.abc import Sequence

from sqlalchemy import select

from callwright.contract.agents.call_tools import CallTool, TransferTool
from callwright.service.dialling.eligibility import do_not_call
from callwright.service.handlers.request_context import RequestContext
from callwright.service.rules.transfer_destinations import advice_on_destinations, check_countries, transfers_in
from callwright.service.rules.unfit_tools import Unfit
from callwright.service.tables.schema import phone_numbers

_N = phone_numbers.c


def check(tools: Sequence[CallTool], context: RequestContext) -> None:
    """Raises `Unfit` for a destination abroad that is not allowed, one at which no person answers because agents call
    from it, and one that asked not to be called.

    An organization without numbers calls from nowhere yet, so its destinations may be anywhere.
    """
    for index, tool in enumerate(tools):
        if not isinstance(tool, TransferTool):
            continue
        place = f"call_tools.{index}"
        mine = _N.org_id == context.org_id, _N.released_at.is_(None)
        own = set(context.connection.execute(select(_N.country).where(*mine).distinct()).scalars())
        if own:
            check_countries(tool, place, own)
        wanted = [one.to for one in tool.destinations]
        calling = set(context.connection.execute(select(_N.number).where(*mine, _N.number.in_(wanted))).scalars())
        for at, one in enumerate(tool.destinations):
            if one.to in calling:
                raise Unfit(
                    f"{place}.destinations.{at}.to",
                    "is one of your own numbers, from which agents call; give the number of a person's telephone",
                )
            listed = do_not_call.entry_of(
                context.connection, context.org_id, one.to, simulated=False, now_ms=context.now_ms
            )
            if listed is not None:
                raise Unfit(f"{place}.destinations.{at}.to", "is on the do-not-call list")


def advice(tools: Sequence[CallTool], context: RequestContext) -> list[str]:
    """Warnings of destinations that may not be called from each of the organization's numbers."""
    found = transfers_in(tools)
    if not found:
        return []
    mine = select(_N.number).where(_N.org_id == context.org_id, _N.released_at.is_(None)).order_by(_N.number)
    return advice_on_destinations(found, list(context.connection.execute(mine).scalars()))
