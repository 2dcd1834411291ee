"""Sending again what a webhook did not get: how many first, then doing it."""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from callwright.contract import webhooks as contract
from callwright.service.dashboard.asking import Refused
from callwright.service.dashboard.listings import moment_of
from callwright.service.dashboard.serving import Pages, shown
from callwright.service.dashboard.visitors import Visitor, one
from callwright.service.handlers.webhooks.deliveries import count_to_replay

HERE = "/webhooks"
_STATUSES = ("failed", "missed")
_RANGE = ("created_from", "created_before")


def routes(pages: Pages) -> list[Route]:
    """The routes."""
    database = pages.visitors.services.database

    async def replay(request: Request, visitor: Visitor) -> Response:
        webhook = await visitor.ask.one(contract.get_webhook, id=request.path_params["id"])
        query = request.query_params
        fields: Mapping[str, list[str]] = {name: query.getlist(name) for name in ("statuses", *_RANGE)}
        if request.method == "POST":
            fields = await pages.visitors.form(request, visitor)
        wanted = _wanted(fields)
        fault, count = "", 0
        try:
            asked = contract.ReplayWebhook.model_validate({"id": webhook["id"], **wanted})
            count = await database.read(count_to_replay, asked)
        except ValidationError:
            fault = "Write both moments as a day and a time, such as 2026-11-28T09:00; either may be left out."
        is_active = webhook["status"] == "active"
        if request.method == "POST" and not fault and count:
            try:
                await visitor.ask.one(contract.replay_webhook, **{**wanted, "id": webhook["id"]})
                return RedirectResponse(f"{HERE}/{webhook['id']}?cause=replay", 303)
            except Refused as error:
                fault = error.message
        elif request.method == "POST" and not fault:
            fault = "Nothing was sent: nothing fits any more."
        context: dict[str, Any] = {
            "webhook": webhook,
            "is_active": is_active,
            "wanted": wanted,
            "given": {name: (fields.get(name) or [""])[0] for name in _RANGE},
            "count": min(count, contract.MOST_REPLAYED),
            "has_more": count > contract.MOST_REPLAYED,
            "fault": fault,
        }
        status = 400 if fault else 200
        return shown(visitor, HERE, "webhook_replay.html", "Send again", context, status=status)

    return [pages.route("/webhooks/{id}/replay", replay, methods=("GET", "POST"), here=HERE)]


def _wanted(fields: Mapping[str, list[str]]) -> dict[str, Any]:
    """The input of a replay: both states if none is chosen, and no bound where a moment is left out."""
    chosen = [state for state in _STATUSES if state in fields.get("statuses", ())]
    given = {name: moment_of(one(fields, name)) for name in _RANGE if fields.get(name)}
    return {"statuses": chosen or list(_STATUSES), **{name: text for name, text in given.items() if text}}
