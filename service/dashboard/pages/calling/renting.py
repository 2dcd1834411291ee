"""Renting a number: looking for one, then what it costs, then renting exactly that one at that price."""

import re
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from callwright.contract import phone_numbers as contract
from callwright.service.dashboard import forms_sent_once
from callwright.service.dashboard.asking import Page, Refused
from callwright.service.dashboard.html.forms import form_fields, input_of
from callwright.service.dashboard.html.places import countries
from callwright.service.dashboard.serving import Pages, said, shown
from callwright.service.dashboard.visitors import Visitor, one

HERE = "/numbers"
RENT = f"{HERE}/rent"
MOST_OFFERED = 20
_LOOKED_FOR = ("country", "area_code", "contains", "number_type")
_CHOSEN = ("label", "auto_renew")
_PRICE = re.compile(r"[0-9]{1,6}(\.[0-9]{1,6})?")


def routes(pages: Pages) -> list[Route]:
    """The routes."""

    async def look(request: Request, visitor: Visitor) -> Response:
        given: dict[str, Any] = {name: value for name, value in request.query_params.items() if value}
        refused: Refused | None = None
        found = Page([], False, None, None)
        if given.get("country"):
            wanted = {name: given[name] for name in _LOOKED_FOR if name in given}
            try:
                found = await visitor.ask.many(contract.search_available_numbers, per_page=MOST_OFFERED, **wanted)
            except Refused as error:
                refused = error
        else:
            own = (await visitor.ask.many(contract.list_phone_numbers, per_page=1)).data
            given["country"] = own[0]["country"] if own else "US"
        choices = {"country": countries()}
        context = {
            "fields": form_fields(contract.search_available_numbers, _LOOKED_FOR, given, refused, choices),
            "refused": None if refused is None else refused.message,
            "offered": found.data,
            "has_looked": "country" in request.query_params and refused is None,
            "number_type": given.get("number_type", "local"),
        }
        status = 200 if refused is None else refused.status
        return shown(visitor, HERE, "number_offers.html", "Rent a number", context, status=status)

    async def rent(request: Request, visitor: Visitor) -> Response:
        refused: Refused | None = None
        if request.method == "POST":
            fields = await pages.visitors.form(request, visitor)
            offer = {name: one(fields, name) for name in ("country", "number", "number_type", "price")}
            given = input_of(contract.rent_phone_number, _CHOSEN, fields)
            once = forms_sent_once.mark_of(fields)
            asked = {name: offer[name] for name in ("country", "number", "number_type") if offer[name]}
            price = {"amount": offer["price"], "currency": "USD"}
            try:
                key = forms_sent_once.key_of(fields)
                made = await visitor.ask.one(
                    contract.rent_phone_number, key=key, **asked, **given, expected_monthly_cost=price
                )
                return RedirectResponse(f"{HERE}/{made['id']}", 303)
            except Refused as error:
                refused = error
        else:
            offer = {name: request.query_params.get(name, "") for name in ("country", "number", "number_type", "price")}
            given, once = {"auto_renew": True}, forms_sent_once.new_mark()
        if not _PRICE.fullmatch(offer["price"]):
            words = "The price of the number is missing. Look for it again, so that you see what it costs."
            return said(visitor, "Not done", words, status=400, back=(RENT, "Look for numbers"))
        context = {
            "fields": form_fields(contract.rent_phone_number, _CHOSEN, given, refused),
            "refused": None if refused is None else refused.message,
            "offer": offer,
            "once": once,
        }
        status = 200 if refused is None else refused.status
        return shown(visitor, HERE, "number_rent.html", "Rent this number", context, status=status)

    return [
        pages.route(RENT, look, here=HERE, for_members=True),
        pages.route(f"{RENT}/one", rent, methods=("GET", "POST"), here=HERE, for_members=True),
    ]
