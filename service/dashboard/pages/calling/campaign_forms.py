"""A new campaign in four steps, and changing one: a draft in everything, one that runs in what may change then."""

from collections.abc import Mapping, Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from callwright.contract.agents.agents import get_agent, list_agents
from callwright.contract.audiences import get_audience, list_audiences
from callwright.contract.checks.names import LONGEST_NAME
from callwright.contract.declaration.operation import AnyOperation
from callwright.contract.deployments import deployments as contract
from callwright.contract.phone_numbers import get_phone_number, list_phone_numbers
from callwright.contract.problems import REVISION_MISMATCH
from callwright.service.dashboard import forms_sent_once
from callwright.service.dashboard.asking import Refused
from callwright.service.dashboard.resources import FormPage, changed_meanwhile, expected_of, form_route, revision_of
from callwright.service.dashboard.serving import Pages, shown
from callwright.service.dashboard.visitors import Visitor, one

HERE = "/campaigns"
MOST_CHOICES = 100
DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_ALWAYS = frozenset(("name", "budget_cap", "max_concurrency"))
"""What may change while a campaign runs. Source: the specification, on `PATCH /deployments/{id}`."""
_PAUSED = _ALWAYS | {"phone_number_ids", "calling_hours", "retry_policy", "compliance"}
_ALL = _PAUSED | {"agent_id", "audience_id"}
CHANGEABLE: Mapping[str, frozenset[str]] = {
    "draft": _ALL,
    "scheduled": _ALWAYS,
    "active": _ALWAYS,
    "paused": _PAUSED,
}
"""What of the form may change, by the campaign's status."""


def routes(pages: Pages) -> list[Route]:
    """The routes."""

    async def new(request: Request, visitor: Visitor) -> Response:
        fields: Mapping[str, list[str]] = {}
        refused: Refused | None = None
        if request.method == "POST":
            fields = await pages.visitors.form(request, visitor)
            given = {name: value for name, value in campaign_of(fields).items() if value is not None}
            try:
                key = forms_sent_once.key_of(fields)
                made = await visitor.ask.one(contract.create_deployment, key=key, **given)
                return RedirectResponse(f"{HERE}/{made['id']}/start", 303)
            except Refused as error:
                refused = error  # what was typed stays in the form
        context = {"typed": typed(fields), "may": _ALL, "campaign": None, "revision": "", "verb": "Look at the plan"}
        return await _shown(visitor, "New campaign", context, refused, fields)

    async def edit(request: Request, visitor: Visitor) -> Response:
        path = {"id": request.path_params["id"]}
        campaign = await visitor.ask.one(contract.get_deployment, **path)
        may, refused = CHANGEABLE.get(campaign["status"], frozenset()), None
        fields = fields_of(campaign)
        if request.method == "POST":
            sent = await pages.visitors.form(request, visitor)
            changes = changes_of(campaign, sent, may)
            expected = expected_of(contract.update_deployment, path, sent)
            try:
                await visitor.ask.one(contract.update_deployment, **path, **changes, **expected)
                return RedirectResponse(f"{HERE}/{path['id']}", 303)
            except Refused as error:
                refused = changed_meanwhile(error) if error.code == REVISION_MISMATCH.code else error
                fields = {**fields, **{name: [] for name in ("days", "phone_number_ids", "consent_attested")}, **sent}
        context = {
            "typed": typed(fields),
            "may": may,
            "campaign": campaign,
            "revision": revision_of(campaign),
            "verb": "Save",
        }
        return await _shown(visitor, f"Change {campaign['name']}", context, refused, {})

    copy = FormPage(
        HERE,
        "/campaigns/{id}/copy",
        "Copy the campaign",
        contract.clone_deployment,
        ("name",),
        "Make the copy",
        intro="A draft with the same settings, and nothing of what happened. You can change it before you start it.",
        leads_to="/campaigns/{id}/edit",
        reads=contract.get_deployment,
        fills=lambda found: {"name": f"{found['name']} (copy)"[:LONGEST_NAME]},
    )
    return [
        pages.route("/campaigns/new", new, methods=("GET", "POST"), here=HERE, for_members=True),
        pages.route("/campaigns/{id}/edit", edit, methods=("GET", "POST"), here=HERE, for_members=True),
        form_route(pages, copy),
    ]


async def _shown(
    visitor: Visitor, title: str, given: Mapping[str, Any], refused: Refused | None, fields: Mapping[str, list[str]]
) -> Response:
    campaign: Mapping[str, Any] = given["campaign"] or {}
    agents = (await visitor.ask.many(list_agents, per_page=MOST_CHOICES)).data
    audiences = (await visitor.ask.many(list_audiences, per_page=MOST_CHOICES)).data
    numbers = (await visitor.ask.many(list_phone_numbers, per_page=MOST_CHOICES, status="active")).data
    context = {
        **given,
        "agents": await _with_own(visitor, agents, get_agent, [campaign.get("agent_id")]),
        "audiences": await _with_own(visitor, audiences, get_audience, [campaign.get("audience_id")]),
        "numbers": await _with_own(visitor, numbers, get_phone_number, campaign.get("phone_number_ids", [])),
        "longest_name": LONGEST_NAME,
        "days": DAYS,
        "refused": refused,
        "once": forms_sent_once.mark_of(fields),
    }
    return shown(visitor, HERE, "campaign_form.html", title, context, status=200 if refused is None else refused.status)


async def _with_own(
    visitor: Visitor, found: list[dict[str, Any]], operation: AnyOperation, own: Sequence[str | None]
) -> list[dict[str, Any]]:
    """What can be chosen, with what the campaign has already: saving its form changes nothing that nobody touched."""
    known = {one["id"] for one in found}
    missing = [await visitor.ask.one_or_none(operation, id=thing) for thing in own if thing and thing not in known]
    return [*(one for one in missing if one is not None), *found]


def typed(fields: Mapping[str, list[str]]) -> dict[str, Any]:
    """What stands in the form: a text for each field, and a list for those of which several are chosen."""
    single = {name: values[0] for name, values in fields.items() if values}
    return {**single, **{name: fields.get(name, []) for name in ("phone_number_ids", "days")}}


def fields_of(campaign: Mapping[str, Any]) -> dict[str, list[str]]:
    """A campaign as its form sends it. Hours that the form cannot show are `kept`."""
    hours = campaign["calling_hours"]
    found = {
        "name": campaign["name"],
        "agent_id": campaign["agent_id"],
        "audience_id": campaign["audience_id"],
        "consent_column": campaign["compliance"]["consent_column"],
        "consent_attested": "yes" if campaign["compliance"]["consent_attested"] else "",
        "budget_cap": campaign["budget_cap"] and campaign["budget_cap"]["amount"],
        "max_attempts": campaign["retry_policy"]["max_attempts"],
        "max_concurrency": campaign["max_concurrency"],
        "hours": "rules" if hours is None else "own" if _is_simple(hours) else "kept",
    }
    fields = {name: [str(value)] for name, value in found.items() if value}
    fields["phone_number_ids"] = list(campaign["phone_number_ids"])
    if hours is not None and _is_simple(hours):
        window = hours["windows"][0]
        fields |= {"days": list(window["days"]), "hours_from": [window["start"]], "hours_to": [window["end"]]}
    return fields


def _is_simple(hours: Mapping[str, Any]) -> bool:
    return len(hours["windows"]) == 1 and hours["timezone_mode"] == "callee"


def campaign_of(fields: Mapping[str, list[str]]) -> dict[str, Any]:
    """The input that a form says. None where a field is empty: the API's default, or nothing."""
    cap, attempts, most = (one(fields, name) for name in ("budget_cap", "max_attempts", "max_concurrency"))
    compliance: dict[str, Any] = {}
    if column := one(fields, "consent_column"):
        compliance["consent_column"] = column
    if one(fields, "consent_attested"):
        compliance["consent_attested"] = True
    window = {"days": fields.get("days", []), "start": one(fields, "hours_from"), "end": one(fields, "hours_to")}
    return {
        **{name: one(fields, name) for name in ("name", "agent_id", "audience_id")},
        "phone_number_ids": [value for value in fields.get("phone_number_ids", []) if value] or None,
        "calling_hours": {"windows": [window]} if one(fields, "hours") == "own" else None,
        "budget_cap": {"amount": cap, "currency": "USD"} if cap else None,
        "retry_policy": {"max_attempts": _whole(attempts)} if attempts else None,
        "max_concurrency": _whole(most) if most else None,
        "compliance": compliance or None,
    }


def changes_of(campaign: Mapping[str, Any], sent: Mapping[str, list[str]], may: frozenset[str]) -> dict[str, Any]:
    """What a form changes of a campaign: of settings with parts, the parts that the form does not show stay."""
    given, before = campaign_of(sent), campaign_of(fields_of(campaign))
    if one(sent, "hours") == "kept":
        given["calling_hours"] = before["calling_hours"]
    if sorted(given["phone_number_ids"] or []) == sorted(before["phone_number_ids"] or []):
        given["phone_number_ids"] = before["phone_number_ids"]  # the order of the form says nothing
    changed = {name: value for name, value in given.items() if name in may and value != before[name]}
    if (policy := changed.pop("retry_policy", None)) is not None:
        changed["retry_policy"] = {**campaign["retry_policy"], **policy}
    if "compliance" in changed:
        none = {"consent_column": None, "consent_attested": False}
        changed["compliance"] = {**campaign["compliance"], **none, **(changed["compliance"] or {})}
    emptied = [name for name in ("agent_id", "audience_id", "phone_number_ids", "max_concurrency") if not given[name]]
    return {name: value for name, value in changed.items() if name not in emptied}


def _whole(text: str) -> int | str:
    """A whole number, or the text as it is: the API then says what is wrong with it."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else text
