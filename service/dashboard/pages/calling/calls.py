"""Calls: the list, one with its sound and transcript, why it was dialled, and what ends or corrects it."""

from collections.abc import Mapping
from typing import Any

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from callwright.contract.agents.agents import get_agent
from callwright.contract.audit_log import list_audit_log
from callwright.contract.calls import calls as contract
from callwright.contract.calls.corrections import correct_disposition
from callwright.contract.calls.evidence import get_call_evidence
from callwright.contract.calls.transcripts import search_transcripts
from callwright.contract.calls.unconfirmed import resolve_call
from callwright.contract.deployments.deployments import get_deployment
from callwright.contract.deployments.exports import export_deployment
from callwright.service.dashboard.asking import Refused
from callwright.service.dashboard.files import file_answer
from callwright.service.dashboard.listening import has_live_sound
from callwright.service.dashboard.listings import Column, ListPage
from callwright.service.dashboard.pages.lists import listed
from callwright.service.dashboard.resources import FormPage, form_route
from callwright.service.dashboard.serving import Pages, shown
from callwright.service.dashboard.visitors import Visitor, one
from callwright.service.dashboard.whole_numbers import revealed
from callwright.service.handlers.people.whole_numbers import NumberPlace

HERE = "/calls"
SAID = "/calls/said"
CALLS = ListPage(
    HERE,
    "Calls",
    contract.list_calls,
    (
        Column("When", "created_at", "moment", link="/calls/{id}"),
        Column("Name", "contact_name"),
        Column("Number", "to", "number"),
        Column("Outcome", "outcome", "state"),
        Column("Disposition", "disposition", "state"),
        Column("Length", "duration_seconds", "length"),
        Column("Cost", "cost", "money", is_second=True),
        Column("Status", "status", "state", is_second=True),
    ),
    "Calls appear here while they are made. Start a campaign, or talk to an agent in the browser from its page.",
    filters=(
        *("outcome", "disposition", "status", "call_type", "contact_name", "to"),
        *("created_from", "created_before", "deployment_id", "contact_id"),
    ),
)
_MOST_MATCHES = 25


def routes(pages: Pages) -> list[Route]:
    """The routes."""

    services = pages.visitors.services

    async def call(request: Request, visitor: Visitor) -> Response:
        whole = None
        if request.method == "POST":
            await pages.visitors.form(request, visitor)
            whole = await revealed(services, visitor, NumberPlace(request.path_params["id"]))
        found = await visitor.ask.one(contract.get_call, call_uuid=request.path_params["id"])
        transcript = await visitor.ask.one_or_none(contract.get_transcript, call_uuid=found["id"])
        evidence = await visitor.ask.one_or_none(get_call_evidence, call_uuid=found["id"])
        campaign = found["deployment_id"] and await visitor.ask.one_or_none(get_deployment, id=found["deployment_id"])
        agent = await visitor.ask.one_or_none(get_agent, id=found["agent_id"])
        number: str = found["from"] if found["call_type"] == "inbound" else found["to"]
        context: dict[str, Any] = {
            "call": found,
            "campaign_name": campaign and campaign["name"],
            "agent_name": agent and agent["name"],
            "turns": [] if transcript is None else transcript["turns"],
            "transcript": transcript,
            "evidence": evidence,
            "is_live": found["status"] in ("queued", "initiated", "ringing", "in_progress"),
            "is_held": found["hangup_cause"] == "unconfirmed" and found["resolved"] is None,
            "has_live_sound": found["status"] == "in_progress"
            and await to_thread.run_sync(has_live_sound, services.recordings.lines, found["id"]),
            "whole_number": whole,
            "has_number": number.startswith("+"),
            "may_correct": visitor.may_change and found["ended_at"] is not None and found["answered_at"] is not None,
            "corrector": await _corrector(visitor, found),
        }
        return shown(visitor, HERE, "call.html", found["contact_name"] or "A call", context)

    async def recording(request: Request, visitor: Visitor) -> Response:
        named = request.path_params["form"]
        return await file_answer(
            request, visitor, contract.get_recording, call_uuid=request.path_params["id"], format=named
        )

    async def export(request: Request, visitor: Visitor) -> Response:
        of = request.query_params.get("of", "contacts")
        given = {"id": request.path_params["id"], "of": of, "format": "csv", "masked": not visitor.may_change}
        return await file_answer(request, visitor, export_deployment, **given)

    async def hang_up(request: Request, visitor: Visitor) -> Response:
        fields = await pages.visitors.form(request, visitor)
        call_id = request.path_params["id"]
        await visitor.ask.one(contract.hang_up_call, call_uuid=call_id)
        return RedirectResponse(f"{HERE}/{'live' if one(fields, 'back') == 'live' else call_id}", 303)

    async def resolve(request: Request, visitor: Visitor) -> Response:
        fields = await pages.visitors.form(request, visitor)
        call_id = request.path_params["id"]
        await visitor.ask.one(resolve_call, call_uuid=call_id, placed=one(fields, "placed") == "yes")
        return RedirectResponse(f"{HERE}/{call_id}", 303)

    async def said(request: Request, visitor: Visitor) -> Response:
        words = request.query_params.get("q", "").strip()
        refused, matches = "", []
        if words:
            try:
                matches = (await visitor.ask.many(search_transcripts, query=words, per_page=_MOST_MATCHES)).data
            except Refused as error:
                refused = error.message
        context = {"words": words, "matches": matches, "refused": refused}
        return shown(visitor, SAID, "said_words.html", "Search what was said", context)

    correct = FormPage(
        HERE,
        "/calls/{call_uuid}/disposition",
        "Correct the disposition",
        correct_disposition,
        ("disposition", "note"),
        "Correct it",
        intro="What you choose stands beside what the agent said; lists, statistics and the campaign count it. When "
        "this person is called again stays as planned. Do not call also puts their number on the do-not-call list for "
        "good; choosing something else takes no number off that list, which is done under Do not call.",
        leads_to="/calls/{call_uuid}",
        reads=contract.get_call,
    )
    return [
        listed(pages, CALLS),
        pages.route(SAID, said, here=SAID),
        pages.route("/calls/{id}", call, here=HERE),
        pages.route("/calls/{id}/number", call, methods=("POST",), here=HERE),
        form_route(pages, correct),
        pages.route("/calls/{id}/recording.{form}", recording, here=HERE),
        pages.route("/calls/{id}/hangup", hang_up, methods=("POST",), here=HERE),
        pages.route("/calls/{id}/resolve", resolve, methods=("POST",), here=HERE),
        pages.route("/campaigns/{id}/export", export, here="/campaigns"),
    ]


async def _corrector(visitor: Visitor, call: Mapping[str, Any]) -> str | None:
    """The name of who corrected a call, as the audit log has it; None where nobody did, or it has forgotten."""
    if call["correction"] is None:
        return None
    entries = await visitor.ask.many(list_audit_log, subject_id=call["id"], action=correct_disposition.name, per_page=1)
    return entries.data[0]["actor_label"] if entries.data else None
