"""What must not be forgotten: the do-not-call list, compliance reviews, the audit log."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from callwright.contract import audit_log, compliance_reviews, do_not_call
from callwright.contract.phone_numbers import list_phone_numbers
from callwright.service.accounts.actors import actors_of
from callwright.service.dashboard.asking import Refused
from callwright.service.dashboard.html.field_names import label_of
from callwright.service.dashboard.html.pages_of_ids import with_page
from callwright.service.dashboard.html.places import countries
from callwright.service.dashboard.listings import Column, ListPage, column
from callwright.service.dashboard.pages.lists import listed
from callwright.service.dashboard.resources import Fact, FormPage, ResourcePage, fact, form_route, resource_route
from callwright.service.dashboard.serving import Pages, shown
from callwright.service.dashboard.visitors import Visitor, one

NOBODY_CALLS, REVIEWS, AUDIT = "/do-not-call", "/reviews", "/audit"
MOST_ACTORS = 100
"""Users, and keys, among which the audit log lets choose."""
DO_NOT_CALL = ListPage(
    NOBODY_CALLS,
    "Do not call",
    do_not_call.list_do_not_call,
    (
        Column("Number", "number", "number", link="/do-not-call/{id}"),
        column("reason", "words"),
        Column("Since", "created_at", "moment"),
        Column("Until", "expires_at", "moment", is_second=True),
        Column("Note", "note", is_second=True),
    ),
    "Numbers that nobody calls: people who asked an agent not to be called get here by themselves.",
    filters=("number", "reason"),
    add=("/do-not-call/add", "Add a number"),
)
ENTRY = ResourcePage(
    NOBODY_CALLS,
    "/do-not-call/{id}",
    do_not_call.get_do_not_call,
    "A number that nobody calls",
    (
        fact("reason", "words"),
        Fact("Since", "created_at", "moment"),
        Fact("Until", "expires_at", "moment"),
        Fact("Note", "note"),
        Fact("Asked in", "source_call_id", link="/calls/{source_call_id}"),
        Fact("Id", "id", "code"),
    ),
    forms=(("/do-not-call/{id}/person", "About this person"), ("/do-not-call/{id}/remove", "Remove…")),
    number_at="number",
)
COMPLIANCE = ListPage(
    REVIEWS,
    "Reviews",
    compliance_reviews.list_compliance_reviews,
    (
        column("category", "words", link="/reviews/{id}"),
        Column("Status", "status", "state"),
        Column("In words", "message"),
        Column("Due", "due_at", "moment"),
        Column("Severity", "severity", "words", is_second=True),
    ),
    "When something about a campaign needs a person's judgement, it is asked here.",
    filters=("status", "category"),
)
REVIEW = ResourcePage(
    REVIEWS,
    "/reviews/{id}",
    compliance_reviews.get_compliance_review,
    "message",
    (
        fact("category", "words"),
        Fact("Severity", "severity", "words"),
        Fact("Made", "created_at", "moment"),
        Fact("Due", "due_at", "moment"),
        Fact("Decided", "decided_at", "moment"),
        Fact("Note", "decision_note"),
        Fact("Facts", "facts", "json"),
    ),
    forms=(("/reviews/{id}/decide", "Decide"),),
    state="status",
)
ENTRIES = ListPage(
    AUDIT,
    "Audit log",
    audit_log.list_audit_log,
    (
        Column("When", "created_at", "moment"),
        Column(label_of("actor_id"), "by"),
        column("action", "words"),
        Column("About", "about", link=lambda entry: entry["page"]),
        Column("What changed", "changes", "changes", is_second=True),
        column("tool", is_second=True),
    ),
    "Every change is written down here, with who made it and through which tool.",
    filters=("actor_id", "created_from", "created_before", "action", "subject_id", "tool"),
    read_as=lambda entry: {**with_page(entry, entry["subject_id"]), "by": _by(entry)},
)
_OTHERS = {"platform": "the service itself", "operator": "a command on the machine"}
"""Who is no user and no key."""


def _by(entry: Mapping[str, Any]) -> str:
    """Who did it, as people know them."""
    label: str = entry["actor_label"]
    return label or _OTHERS.get(entry["actor_id"], str(entry["actor_id"]))


def routes(pages: Pages) -> list[Route]:
    """The routes."""

    async def add(request: Request, visitor: Visitor) -> Response:
        refused, given = "", {"number": "", "note": "", "reason": "requested"}
        country = ""
        status = 200
        if request.method == "POST":
            fields = await pages.visitors.form(request, visitor)
            given = {name: one(fields, name) for name in given}
            country = one(fields, "default_country")
            entry: dict[str, Any] = {name: value for name, value in given.items() if value}
            try:
                found = await visitor.ask.one(
                    do_not_call.add_do_not_call, entries=[entry], default_country=country or None
                )
            except Refused as error:
                refused, status = error.message, error.status
            else:
                if not found["refused"]:
                    return RedirectResponse(NOBODY_CALLS, 303)
                refused, status = _in_words(found["errors"][0]["message"]), 422
        elif own := (await visitor.ask.many(list_phone_numbers, per_page=1)).data:
            country = own[0]["country"]
        context = {"given": {**given, "default_country": country}, "refused": refused, "countries": countries()}
        return shown(visitor, NOBODY_CALLS, "do_not_call_add.html", "Add a number", context, status=status)

    async def actors(visitor: Visitor) -> Mapping[str, Sequence[tuple[str, str]]]:
        database = pages.visitors.services.database
        return {"actor_id": [*await database.read(actors_of, visitor.org_id, MOST_ACTORS), *_OTHERS.items()]}

    remove = FormPage(
        NOBODY_CALLS,
        "/do-not-call/{id}/remove",
        "Remove a number from the list",
        do_not_call.remove_do_not_call,
        ("reason",),
        "Remove it: this person may be called again",
        intro="Only if this person has agreed to be called again, or the number is somebody else's now. The audit log "
        "keeps who removed it, and why.",
        leads_to=NOBODY_CALLS,
        reads=do_not_call.get_do_not_call,
        fills=lambda _: {},
    )
    decide = FormPage(
        REVIEWS,
        "/reviews/{id}/decide",
        "Decide",
        compliance_reviews.decide_compliance_review,
        ("decision", "note"),
        "Decide",
        leads_to="/reviews/{id}",
        reads=compliance_reviews.get_compliance_review,
        fills=lambda _: {},
    )
    return [
        listed(pages, DO_NOT_CALL),
        pages.route("/do-not-call/add", add, methods=("GET", "POST"), here=NOBODY_CALLS, for_members=True),
        *resource_route(pages, ENTRY),
        form_route(pages, remove),
        listed(pages, COMPLIANCE),
        *resource_route(pages, REVIEW),
        form_route(pages, decide),
        listed(pages, replace(ENTRIES, choices=actors)),
    ]


def _in_words(message: str) -> str:
    """What is wrong with a number, with the field as the form calls it."""
    return message.replace("default_country", f"choose the {label_of('default_country').lower()}")
