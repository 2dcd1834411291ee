"""Putting a person on the do-not-call list from where they are looked at, without showing or typing their number."""

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from callwright.contract.calls.calls import get_call
from callwright.contract.deployments.deployments import get_deployment
from callwright.contract.do_not_call import add_do_not_call
from callwright.service.dashboard import forms_sent_once
from callwright.service.dashboard.serving import Pages, said, shown
from callwright.service.dashboard.visitors import Visitor, one
from callwright.service.dashboard.whole_numbers import hidden_number
from callwright.service.handlers.people.whole_numbers import NumberPlace


def routes(pages: Pages) -> list[Route]:
    """The routes."""
    services = pages.visitors.services

    async def opt_out(request: Request, visitor: Visitor) -> Response:
        back = request.url.path.removesuffix("/do-not-call")
        place = NumberPlace(request.path_params["id"], request.path_params.get("deployment_id"))
        number = await hidden_number(services, visitor, place)
        if not number.startswith("+"):
            words = "This was a talk in a browser or a hidden caller: there is no number to put on the list."
            return said(visitor, "Not done", words, status=409, back=(back, "Back"))
        if request.method != "POST":
            context = {"number": number, "back": back, "once": forms_sent_once.new_mark(), "path": request.url.path}
            return shown(visitor, "/do-not-call", "opt_out.html", "Do not call", context)
        fields = await pages.visitors.form(request, visitor)
        if place.deployment_id is None:
            simulated = (await visitor.ask.one(get_call, call_uuid=place.id))["simulated"]
        else:
            simulated = (await visitor.ask.one(get_deployment, id=place.deployment_id))["simulated"]
        entry = {"number": number, "reason": "requested", "note": one(fields, "note")}
        key = forms_sent_once.key_of(fields)
        await visitor.ask.one(add_do_not_call, key=key, entries=[entry], simulated=simulated)
        return RedirectResponse(f"{back}/person", 303)

    at = "/campaigns/{deployment_id}/contacts/{id}"
    return [
        pages.route(f"{path}/do-not-call", opt_out, methods=("GET", "POST"), here=here, for_members=True)
        for path, here in ((at, "/campaigns"), ("/calls/{id}", "/calls"))
    ]
