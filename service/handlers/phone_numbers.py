"""Phone numbers: searching, renting, releasing."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import anyio
from sqlalchemy import Connection, Row, Select, bindparam, select, update

from callwright.contract import phone_numbers as contract
from callwright.contract.declaration.pagination import Page
from callwright.contract.inbound_routing import InboundRouting
from callwright.contract.problems import (
    INSUFFICIENT_CREDITS,
    NUMBER_NOT_CAPABLE,
    NUMBER_UNAVAILABLE,
    PHONE_NUMBER_IN_USE,
    PRICE_CHANGED,
    WALLET_FROZEN,
)
from callwright.service.campaigns import carrier_numbers, number_status, spending_cap
from callwright.service.dialling.limits.number_health import health_at
from callwright.service.handlers import revisions, twilio_offers
from callwright.service.handlers.changes import LIVE, given
from callwright.service.handlers.inbound_routing.shown import shown_routing
from callwright.service.handlers.request_context import RequestContext, handles
from callwright.service.handlers.resources import resource
from callwright.service.platform.clock.clock import DAY
from callwright.service.platform.database.inserts import insert_ignoring_conflicts
from callwright.service.platform.database.listing import Listing, page_of_values, sort_fields
from callwright.service.platform.json_text import json_text
from callwright.service.platform.money import RENTAL_PERIOD_MS, amount, micros, money
from callwright.service.platform.refusals import Refusal
from callwright.service.rules.prices.price_list import SIMULATED as CARRIER
from callwright.service.rules.prices.price_list import rental_of
from callwright.service.services import Services
from callwright.service.settings import LineSettings
from callwright.service.tables.ledger import FROZEN, Movement, book, wallet_of
from callwright.service.tables.schema import deployment_numbers, deployments, phone_numbers
from callwright.service.telephony.number_inventory import RentableNumber, find_rentable, rentable
from callwright.service.telephony.registry import SIP, TWILIO

_N = phone_numbers.c
_USERS = (
    select(deployment_numbers.c.phone_number_id, deployments.c.id)
    .join(deployments, deployments.c.id == deployment_numbers.c.deployment_id)
    .where(deployments.c.org_id == bindparam("org"), deployments.c.status.in_(LIVE))
    .order_by(deployments.c.id)
)
RESTS_MS = DAY
"""How long a released number cannot be rented again: its calls of the last 24 hours count for `max_calls_per_day`."""
SIMULATED = contract.Capabilities(voice_inbound=True, voice_outbound=True, sms=False)
_ASKED_FOR_S = 15.0
"""How long a request waits for Twilio. What is open then goes on without it."""
_OWNED = contract.Capabilities(voice_inbound=False, voice_outbound=True, sms=False)


def find(context: RequestContext, number_id: str, *, field: str | None = None, lock: bool = False) -> Row[Any]:
    """The number's row, locked for this unit of work if `lock` is set. Raises `Refusal`: not_found."""
    found = _shown(context).where(_N.id == bindparam("id"), _N.org_id == bindparam("org"))
    return context.one(found.with_for_update() if lock else found, field=field, id=number_id)


def _shown(context: RequestContext) -> Select[*tuple[Any, ...]]:
    """Numbers with their health at this moment."""
    return select(phone_numbers, health_at(context.now_ms))


def capabilities(row: Row[Any], lines: LineSettings) -> contract.Capabilities:
    """What a number can do. One at the SIP trunk can be called if the trunk's callers are let in."""
    if row.simulated:
        return SIMULATED
    of_trunk = row.provider == SIP and lines.sip_inbound is not None and row.number in lines.sip_numbers
    return _OWNED.model_copy(update={"voice_inbound": of_trunk or row.provider == TWILIO})


def check_capable(context: RequestContext, number: Row[Any], field: str | None) -> None:
    """Raises `Refusal`: number_not_capable for a number that is not active, or that nobody can call."""
    if number.status != "active":
        raise Refusal(NUMBER_NOT_CAPABLE, f"the number is {number.status}", field=field)
    if not capabilities(number, context.settings.lines).voice_inbound:
        raise Refusal(NUMBER_NOT_CAPABLE, "the number cannot be called", field=field)


def _users(context: RequestContext) -> dict[str, list[str]]:
    users: defaultdict[str, list[str]] = defaultdict(list)
    for number_id, deployment_id in context.connection.execute(_USERS, {"org": context.org_id}):
        users[number_id].append(deployment_id)
    return users


def _to_resource(row: Row[Any], users: dict[str, list[str]], lines: LineSettings) -> contract.PhoneNumber:
    return resource(
        contract.PhoneNumber,
        row,
        capabilities=capabilities(row, lines),
        monthly_cost=money(row.monthly_micros),
        inbound_routing=shown_routing(InboundRouting, row),
        outbound_deployment_ids=users.get(row.id, []),
        revision=revisions.of_number(row),
    )


def resource_of(context: RequestContext, number_id: str) -> contract.PhoneNumber:
    """A number that nothing uses yet."""
    return _to_resource(find(context, number_id), {}, context.settings.lines)


def _free(context: RequestContext, found: Sequence[RentableNumber]) -> list[RentableNumber]:
    """Those that nobody rents, and that the organization did not give back within the last day."""
    numbers = [entry.number for entry in found]
    statement = select(_N.number).where(_N.number.in_(numbers), _N.released_at.is_(None))
    lately = select(_N.number).where(
        _N.org_id == context.org_id,
        _N.number.in_(numbers),
        _N.status == "released",
        _N.released_at > context.now_ms - RESTS_MS,
    )
    taken = {*context.connection.execute(statement).scalars(), *context.connection.execute(lately).scalars()}
    return [entry for entry in found if entry.number not in taken]


@handles(contract.list_phone_numbers)
def list_phone_numbers(asked: contract.ListPhoneNumbers, context: RequestContext) -> Page[contract.PhoneNumber]:
    """A page of rented numbers."""
    users = _users(context)
    names = ("status", "number", "country", "number_type", "created_at", "updated_at")
    listing = Listing(
        contract.list_phone_numbers,
        _shown(context).where(_N.org_id == context.org_id),
        {name: _N[name] for name in names},
        _N.id,
    )
    return context.page(listing, asked, lambda row: _to_resource(row, users, context.settings.lines))


@handles(contract.search_available_numbers, asks=twilio_offers.search)
def search_available_numbers(
    asked: contract.SearchAvailableNumbers, context: RequestContext
) -> Page[contract.AvailableNumber]:
    """A page of numbers that can be rented."""
    kind = asked.number_type or "local"
    descends = sort_fields(contract.search_available_numbers, asked.sort or "number")[0][1]
    if asked.provider == TWILIO:
        able, prices = _OWNED, twilio_offers.priced(context, context.prepared)
        free = _free(context, [entry for entry in context.prepared if entry.number in prices])
    else:
        able, price = SIMULATED, rental_of(CARRIER, asked.country, kind)
        free = _free(context, rentable(asked.country, kind, asked.area_code, asked.contains))
        prices = {entry.number: price for entry in free}
    shown = [
        resource(contract.AvailableNumber, entry, capabilities=able, monthly_cost=money(prices[entry.number]))
        for entry in (reversed(free) if descends else free)
    ]
    return page_of_values(
        context.cursors,
        contract.search_available_numbers,
        asked,
        shown,
        org_id=context.org_id,
        key=lambda entry: entry.number,
    )


async def _at_twilio(number: contract.PhoneNumber, services: Services) -> contract.PhoneNumber:
    """Has Twilio do what was just stored, and gives the number as it then is. Raises Refusal if it was not rented.

    A request that is repeated with its idempotency key finds what became of the number.
    """
    if number.provider != TWILIO or number.status not in ("pending", "releasing"):
        return number
    with anyio.move_on_after(_ASKED_FOR_S):
        await carrier_numbers.attempt(services, number.id)
    now_ms = services.clock.now_ms()
    return await services.database.read(_as_kept, number.id, now_ms, services.settings.lines)


def _as_kept(connection: Connection, number_id: str, now_ms: int, lines: LineSettings) -> contract.PhoneNumber:
    row = connection.execute(select(phone_numbers, health_at(now_ms)).where(_N.id == number_id)).one()
    if row.status == "failed":
        why = f"nothing was rented, and the month was paid back: {carrier_numbers.reason_of(connection, number_id)}"
        raise Refusal(NUMBER_UNAVAILABLE, why, field="number")
    return _to_resource(row, {}, lines)


@handles(contract.rent_phone_number, asks=twilio_offers.look_up, then=_at_twilio)
def rent_phone_number(asked: contract.RentPhoneNumber, context: RequestContext) -> contract.PhoneNumber:
    """Rents a number and charges its first month."""
    at_twilio = twilio_offers.wanted(asked, context) if asked.provider == TWILIO else None
    price = at_twilio[1] if at_twilio else rental_of(CARRIER, asked.country, asked.number_type)
    if asked.expected_monthly_cost is not None and micros(asked.expected_monthly_cost.amount) != price:
        message = f"expected_monthly_cost: the number costs {amount(price)} USD a month"
        details = {"monthly_cost": amount(price)}
        raise Refusal(PRICE_CHANGED, message, field="expected_monthly_cost", details=details)
    wallet = wallet_of(context.connection, context.org_id, lock=True)
    if wallet.status == FROZEN:
        raise Refusal(WALLET_FROZEN)
    available = wallet.balance_micros - wallet.reserved_micros
    if available < price:
        raise Refusal(INSUFFICIENT_CREDITS, details={"required": amount(price), "available": amount(available)})
    if at_twilio is not None:
        candidates = _free(context, [at_twilio[0]])
    elif asked.number is not None:
        exact = find_rentable(asked.number, asked.country, asked.number_type)
        candidates = _free(context, [exact] if exact else [])
    else:
        candidates = _free(context, rentable(asked.country, asked.number_type, asked.area_code, asked.contains))
    spending_cap.check(context.connection, context.spending_key, price)
    new = context.new_row("num")
    if not any(_take(context, asked, entry, new, price) for entry in candidates):
        raise Refusal(NUMBER_UNAVAILABLE, field="number" if asked.number is not None else "country")
    number_id = new["id"]
    charge = Movement("number_rental", -price, "phone_number", number_id, "first month of a phone number")
    book(context.connection, context.ids, context.org_id, [charge], now_ms=context.now_ms)
    return _to_resource(find(context, number_id), {}, context.settings.lines)


def _take(
    context: RequestContext, asked: contract.RentPhoneNumber, entry: RentableNumber, new: Mapping[str, Any], price: int
) -> bool:
    row = {
        **new,
        **asdict(entry),
        "status": "pending" if asked.provider == TWILIO else "active",
        "label": asked.label,
        "provider": asked.provider,
        "simulated": asked.provider == CARRIER,
        "monthly_micros": price,
        "renews_at": context.now_ms + RENTAL_PERIOD_MS,
        "auto_renew": asked.auto_renew,
        "max_calls_per_day": asked.max_calls_per_day,
        "metadata": json_text(asked.metadata),
        "renewed_by_key_id": context.key_id,
    }
    return bool(insert_ignoring_conflicts(context.connection, phone_numbers, [row]))


@handles(contract.get_phone_number)
def get_phone_number(asked: contract.GetPhoneNumber, context: RequestContext) -> contract.PhoneNumber:
    """One number."""
    return _to_resource(find(context, asked.id), _users(context), context.settings.lines)


@handles(contract.update_phone_number, brief=True)
def update_phone_number(asked: contract.UpdatePhoneNumber, context: RequestContext) -> contract.PhoneNumber:
    """A changed number."""
    row = find(context, asked.id)
    changes = given(asked)
    if changes.get("auto_renew") and not row.auto_renew:
        spending_cap.check_renewals(context.connection, context.spending_key, row)
    if changes.get("auto_renew") and context.spending_key.cap_micros is None:
        changes["renewed_by_key_id"] = context.key_id
    if "auto_renew" in changes:
        changes["settings_changes"] = _N.settings_changes + 1
    context.connection.execute(
        update(phone_numbers).where(_N.id == asked.id).values(**changes, updated_at=context.now_ms)
    )
    return _to_resource(find(context, asked.id), _users(context), context.settings.lines)


@handles(contract.release_phone_number, then=_at_twilio)
def release_phone_number(asked: contract.ReleasePhoneNumber, context: RequestContext) -> contract.PhoneNumber:
    """Releases a number, also at Twilio if it was rented there. Its row stays, because calls refer to it."""
    row = find(context, asked.id, lock=True)
    if row.status == "pending":
        raise Refusal(PHONE_NUMBER_IN_USE, "Twilio is being asked for this number; try again in a minute")
    users = _users(context).get(asked.id, [])
    if users or row.inbound_deployment_id:
        message = (
            f"deployment {users[0]} calls from this number and is not finished"
            if users
            else f"deployment {row.inbound_deployment_id} answers this number and is not cancelled"
        )
        used_by = [*users, *filter(None, (row.inbound_deployment_id,))]
        raise Refusal(PHONE_NUMBER_IN_USE, message, details={"used_by": used_by})
    if row.status not in ("releasing", "released", "failed"):
        end = number_status.end_of_use(row)
        number_status.take_out_of_use(context.connection, context.ids, row, end, now_ms=context.now_ms)
    return _to_resource(find(context, asked.id), {}, context.settings.lines)
