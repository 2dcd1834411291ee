"""Campaigns: the list, one as it runs, and what changes it, each with what it does said first."""

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from callwright.contract.agents.agents import get_agent
from callwright.contract.audiences import get_audience
from callwright.contract.declaration.operation import AnyOperation
from callwright.contract.deployments import deployments as contract
from callwright.contract.phone_numbers import list_phone_numbers
from callwright.service.dashboard import forms_sent_once
from callwright.service.dashboard.asking import Refused
from callwright.service.dashboard.html import rendering
from callwright.service.dashboard.html.formats import masked_numbers
from callwright.service.dashboard.listings import Column, ListPage, page_of, rows_of
from callwright.service.dashboard.live import LiveBoards, event_stream
from callwright.service.dashboard.pages.lists import listed
from callwright.service.dashboard.serving import Pages, keeping, shown
from callwright.service.dashboard.visitors import Visitor, one

HERE = "/campaigns"
CAMPAIGNS = ListPage(
    HERE,
    "Campaigns",
    contract.list_deployments,
    (
        Column("Name", "name", link="/campaigns/{id}"),
        Column("Status", "status", "state"),
        Column("Contacts", "stats.contacts", "count"),
        Column("Calls", "stats.attempts", "count", is_second=True),
        Column("Answered", "stats.answered", "count", is_second=True),
        Column("Spent", "stats.spend", "money"),
        Column("Call type", "call_type", "words", is_second=True),
        Column("Made", "created_at", "moment", is_second=True),
    ),
    "A campaign calls the people of an audience with an agent, from your numbers. Nothing is dialled before you start.",
    filters=("status", "call_type", "name"),
    usual={"call_type": ["outbound", "inbound"]},
    add=("/campaigns/new", "New campaign"),
)
CONTACTS = (
    Column("Name", "name", link="/campaigns/{deployment_id}/contacts/{id}"),
    Column("Number", "phone_number", "number"),
    Column("Status", "status", "contact"),
    Column("Why", "status_reason", "words", is_second=True),
    Column("Calls", "attempts", "count"),
    Column("Last outcome", "last_outcome", "state", link="/calls/{last_call_id}"),
    Column("Disposition", "last_disposition", "state", is_second=True),
    Column("Next call", "next_attempt_at", "moment", is_second=True),
)
CONTACTS_OF = ListPage("", "Contacts", contract.list_contacts, CONTACTS, "", filters=("status",))
_MOST_NUMBERS = 200
_ACTIONS: Mapping[str, tuple[AnyOperation, str, str]] = {
    "pause": (
        contract.pause_deployment,
        "Pause",
        "No new calls begin. Calls under way go on to their end. It can be resumed at any time.",
    ),
    "resume": (contract.resume_deployment, "Resume", "Calling goes on where it stopped, within the hours that hold."),
    "cancel": (
        contract.cancel_deployment,
        "Cancel",
        "No new calls begin, and nobody who was not reached is called any more. Calls under way go on to their end. "
        "A cancelled campaign cannot be resumed.",
    ),
    "delete": (contract.delete_deployment, "Delete", "The draft is gone for good. It has called nobody."),
}
_ENDED = ("completed", "cancelled", "failed")
_POSSIBLE: Mapping[str, tuple[str, ...]] = {
    "draft": ("start", "edit", "delete"),
    "scheduled": ("pause", "edit", "cancel"),
    "active": ("pause", "edit", "cancel"),
    "paused": ("resume", "edit", "cancel"),
}
"""What can be done with a campaign, by its status. Each can be copied."""


def routes(pages: Pages) -> list[Route]:
    """The routes."""
    boards = LiveBoards(_board)

    async def campaign(request: Request, visitor: Visitor) -> Response:
        deployment = await visitor.ask.one(contract.get_deployment, id=request.path_params["id"])
        contacts = await page_of(visitor, CONTACTS_OF, request.query_params, id=deployment["id"])
        context = {
            "campaign": deployment,
            "query": keeping(request.query_params),
            "possible": possible(deployment, visitor),
            **await _names(visitor, deployment),
            "columns": CONTACTS,
            "rows": rows_of(CONTACTS, contacts.data),
            "page": contacts,
            "status": request.query_params.get("status", ""),
            "is_running": deployment["status"] not in _ENDED or deployment["contact_changes"] is not None,
        }
        return shown(visitor, HERE, "campaign.html", deployment["name"], context)

    async def live(request: Request, visitor: Visitor) -> Response:
        return event_stream(boards, visitor, request.path_params["id"], pages.visitors.services)

    async def start(request: Request, visitor: Visitor) -> Response:
        deployment_id = request.path_params["id"]
        refused: Refused | None = None
        if request.method == "POST":
            fields = await pages.visitors.form(request, visitor)
            try:
                key = forms_sent_once.key_of(fields)
                await visitor.ask.one(
                    contract.start_deployment, key=key, id=deployment_id, plan_id=one(fields, "plan_id")
                )
                return RedirectResponse(f"{HERE}/{deployment_id}", 303)
            except Refused as error:
                refused = error  # the plan is shown again as it is now, with what has changed
        deployment = await visitor.ask.one(contract.get_deployment, id=deployment_id)
        preview = await visitor.ask.one(contract.preview_deployment, id=deployment_id)
        numbers = await visitor.ask.many(list_phone_numbers, per_page=_MOST_NUMBERS)
        own = [row["number"] for row in numbers.data if row["id"] in deployment["phone_number_ids"]]
        context = {
            "campaign": deployment,
            "preview": preview,
            "sentence": masked_numbers(preview["summary"], but=own),
            "refused": refused,
            "once": forms_sent_once.new_mark(),
        }
        status = 200 if refused is None else refused.status
        return shown(visitor, HERE, "campaign_start.html", f"Start {deployment['name']}?", context, status=status)

    return [
        listed(pages, CAMPAIGNS),
        pages.route("/campaigns/{id}", campaign, here=HERE),
        pages.route("/campaigns/{id}/live", live, here=HERE),
        pages.route("/campaigns/{id}/start", start, methods=("GET", "POST"), here=HERE),
        *(_acting(pages, action) for action in _ACTIONS),
    ]


async def _board(visitor: Visitor, deployment_id: str) -> tuple[str, bool]:
    """A campaign as it stands, with what can be done, and whether nothing changes any more."""
    found = await visitor.ask.one(contract.get_deployment, id=deployment_id)
    is_ended = found["status"] in _ENDED and found["contact_changes"] is None
    return rendering.rendered("board.html", {"campaign": found, "possible": possible(found, visitor)}), is_ended


def possible(campaign: Mapping[str, Any], visitor: Visitor) -> tuple[str, ...]:
    """What this visitor can do with a campaign as it stands."""
    return (*_POSSIBLE.get(campaign["status"], ()), "copy") if visitor.may_change else ()


async def _names(visitor: Visitor, campaign: Mapping[str, Any]) -> dict[str, str]:
    """The names of a campaign's agent and audience; empty where they were deleted since."""
    agent = await visitor.ask.one_or_none(get_agent, id=campaign["agent_id"])
    audience_id = campaign["audience_id"]
    audience = audience_id and await visitor.ask.one_or_none(get_audience, id=audience_id)
    return {"agent_name": agent["name"] if agent else "", "audience_name": audience["name"] if audience else ""}


def _acting(pages: Pages, action: str) -> Route:
    """The route of an action: what it will do, then doing it."""
    operation, verb, words = _ACTIONS[action]

    async def act(request: Request, visitor: Visitor) -> Response:
        deployment_id = request.path_params["id"]
        if request.method == "POST":
            await pages.visitors.form(request, visitor)
            await visitor.ask.one(operation, id=deployment_id)
            return RedirectResponse(HERE if action == "delete" else f"{HERE}/{deployment_id}", 303)
        deployment = await visitor.ask.one(contract.get_deployment, id=deployment_id)
        context = {"campaign": deployment, "action": action, "words": words, "verb": verb}
        return shown(visitor, HERE, "campaign_action.html", f"{verb} {deployment['name']}?", context)

    return pages.route(f"{HERE}/{{id}}/{action}", act, methods=("GET", "POST"), here=HERE, for_members=True)
