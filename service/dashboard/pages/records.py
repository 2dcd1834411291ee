"""What must not be forgotten: the do-not-call list, compliance reviews, the audit log."""

from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from callwright.contract import audit_log, compliance_reviews, do_not_call
from callwright.service.dashboard.asking import Refused
from callwright.service.dashboard.listings import Column, ListPage
from callwright.service.dashboard.pages.lists import listed
from callwright.service.dashboard.resources import Fact, FormPage, ResourcePage, form_route, resource_route
from callwright.service.dashboard.serving import Pages, shown
from callwright.service.dashboard.visitors import Visitor, one

NOBODY_CALLS, REVIEWS, AUDIT = "/do-not-call", "/reviews", "/audit"
DO_NOT_CALL = ListPage(
    NOBODY_CALLS,
    "Do not call",
    do_not_call.list_do_not_call,
    (
        Column("Number", "number", "number", link="/do-not-call/{id}"),
        Column("Why", "reason", "words"),
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
        Fact("Why", "reason", "words"),
        Fact("Since", "created_at", "moment"),
        Fact("Until", "expires_at", "moment"),
        Fact("Note", "note"),
        Fact("Asked in", "source_call_id", link="/calls/{source_call_id}"),
        Fact("Id", "id", "code"),
    ),
    links=(("/do-not-call/{id}/person", "About this person"), ("/do-not-call/{id}/remove", "Remove…")),
    number_at="number",
)
COMPLIANCE = ListPage(
    REVIEWS,
    "Reviews",
    compliance_reviews.list_compliance_reviews,
    (
        Column("What", "category", "words", link="/reviews/{id}"),
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
        Fact("What", "category", "words"),
        Fact("Severity", "severity", "words"),
        Fact("Made", "created_at", "moment"),
        Fact("Due", "due_at", "moment"),
        Fact("Decided", "decided_at", "moment"),
        Fact("Note", "decision_note"),
        Fact("Facts", "facts", "json"),
    ),
    links=(("/reviews/{id}/decide", "Decide"),),
    state="status",
)
ENTRIES = ListPage(
    AUDIT,
    "Audit log",
    audit_log.list_audit_log,
    (
        Column("When", "created_at", "moment"),
        Column("Action", "action"),
        Column("About", "subject_id", "code"),
        Column("By", "actor_label"),
        Column("Actor", "actor_id", "code", is_second=True),
        Column("Tool", "tool", is_second=True),
    ),
    "Every change is written down here, with who made it and through which tool.",
    filters=("action", "subject_id", "actor_id", "tool"),
)


def routes(pages: Pages) -> list[Route]:
    """The routes."""

    async def add(request: Request, visitor: Visitor) -> Response:
        refused, given = "", {"number": "", "note": "", "reason": "requested"}
        status = 200
        if request.method == "POST":
            fields = await pages.visitors.form(request, visitor)
            given = {name: one(fields, name) for name in given}
            entry: dict[str, Any] = {name: value for name, value in given.items() if value}
            try:
                found = await visitor.ask.one(do_not_call.add_do_not_call, entries=[entry])
            except Refused as error:
                refused, status = error.message, error.status
            else:
                if not found["refused"]:
                    return RedirectResponse(NOBODY_CALLS, 303)
                refused, status = found["errors"][0]["message"], 422
        context = {"given": given, "refused": refused}
        return shown(visitor, NOBODY_CALLS, "do_not_call_add.html", "Add a number", context, status=status)

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
    )
    decide = FormPage(
        REVIEWS,
        "/reviews/{id}/decide",
        "Decide",
        compliance_reviews.decide_compliance_review,
        ("decision", "note"),
        "Decide",
        leads_to="/reviews/{id}",
    )
    return [
        listed(pages, DO_NOT_CALL),
        pages.route("/do-not-call/add", add, methods=("GET", "POST"), here=NOBODY_CALLS),
        *resource_route(pages, ENTRY),
        form_route(pages, remove),
        listed(pages, COMPLIANCE),
        *resource_route(pages, REVIEW),
        form_route(pages, decide),
        listed(pages, ENTRIES),
    ]
