"""Waiting for your yes: what assistants ask whose host cannot ask the person, with Yes and No.

No operation answers a question, so no key can: only who is logged in, and may change things. What a person reads here
is what the tool compares again before it does anything.
"""

import secrets
from typing import Any

from sqlalchemy import Row
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from callwright.service.accounts import confirmations
from callwright.service.dashboard.html import rendering
from callwright.service.dashboard.live import Board, LiveBoards, stream_of
from callwright.service.dashboard.serving import Pages, said, shown
from callwright.service.dashboard.visitors import Visitor, context_of, one
from callwright.service.platform.clock.clock import iso_milliseconds
from callwright.service.platform.money import money

HERE = "/confirmations"
TITLE = "Waiting for your yes"
_BACK = (HERE, "To what waits")
_TOKEN = secrets.token_hex(32)
"""Stands for the token of a session's forms where one reading is for many sessions. Nobody can know it, so no words of
a question hold it."""


def routes(pages: Pages) -> list[Route]:
    """The routes."""
    services, database = pages.visitors.services, pages.visitors.services.database

    async def questions(visitor: Visitor) -> dict[str, Any]:
        now_ms = services.clock.now_ms()
        rows = [_shown(row, now_ms) for row in await database.read(confirmations.shown, visitor.org_id, now_ms)]
        waiting = [row for row in rows if row["state"] == "waiting"]
        return {"waiting": waiting, "ended": [row for row in rows if row["state"] != "waiting"]}

    async def waiting(request: Request, visitor: Visitor) -> Response:
        return shown(visitor, HERE, "confirmations.html", TITLE, await questions(visitor))

    async def read(visitor: Visitor, _: str) -> tuple[str, bool]:
        shared = {**context_of(visitor), "form_token": _TOKEN}
        return rendering.rendered("confirmation_list.html", {**shared, **await questions(visitor)}), False

    boards = LiveBoards(read)

    async def live(request: Request, visitor: Visitor) -> Response:
        async def own() -> Board:
            board = await boards.now(visitor, "confirmations", services.clock.running_ms())
            return Board(text=board.text.replace(_TOKEN, visitor.form_token))

        return stream_of(own, visitor, services)

    async def question(request: Request, visitor: Visitor) -> Response:
        place = (visitor.org_id, request.path_params["id"])
        if request.method == "POST":
            fields = await pages.visitors.form(request, visitor)
            if not visitor.may_change:
                words = f"A viewer answers nothing. Ask a member or an owner of {visitor.org_name}."
                return said(visitor, "Not done", words, status=403, back=_BACK)
            if (word := one(fields, "answer")) not in ("yes", "no"):
                return said(visitor, "Not done", "Answer yes or no.", status=422, back=_BACK)
            given = (services.ids, *place, visitor.user_id, services.clock.now_ms())
            counts = await database.write(
                lambda connection: confirmations.answer(connection, *given, agrees=word == "yes")
            )
            found = await database.read(confirmations.find, *place)
            if counts or (found is not None and _says(found, visitor, word)):  # the same form twice says the same
                return RedirectResponse(f"{HERE}/{place[1]}", 303)
            if found is not None:
                context = {"question": _shown(found, services.clock.now_ms()), "is_refused": True}
                return shown(visitor, HERE, "confirmation.html", "Not done", context, status=409)
        else:
            found = await database.read(confirmations.find, *place)
        if found is None:
            words = "There is no such question. Questions are kept for a day."
            return said(visitor, "Not here", words, status=404, back=_BACK)
        context = {"question": _shown(found, services.clock.now_ms()), "is_refused": False}
        return shown(visitor, HERE, "confirmation.html", TITLE, context)

    return [
        pages.route(HERE, waiting, here=HERE),
        pages.route(f"{HERE}/live", live, here=HERE),
        pages.route(f"{HERE}/{{id}}", question, methods=("GET", "POST"), here=HERE),
    ]


def _says(row: Row[Any], visitor: Visitor, word: str) -> bool:
    """Whether this user has given this answer before."""
    return row.status == word and row.answered_by_user_id == visitor.user_id


def _shown(row: Row[Any], now_ms: int) -> dict[str, Any]:
    """A question as the templates show it.

    `state` says where it stands: waiting, yes, used, no, void (a yes that does not count), over or withdrawn.
    """
    is_over = now_ms >= row.ends_at
    state = row.status
    if row.status == "yes" and row.taken_at is not None:
        state = "used"
    elif row.status == "yes" and not row.answer_counts:
        state = "void"
    elif row.status in ("waiting", "yes") and is_over:
        state = "over"
    return {
        "id": row.id,
        "state": state,
        "tool": row.tool,
        "question": row.question,
        "people": row.people,
        "cost": None if row.cost_micros is None else money(row.cost_micros).model_dump(),
        "deployment_id": row.deployment_id if row.deployment_name is not None else None,
        "deployment_name": row.deployment_name,
        "key_label": row.key_label,
        "key_identity": row.key_identity,
        "key_maker": row.key_maker,
        "asked_at": iso_milliseconds(row.asked_at),
        "ends_at": iso_milliseconds(row.ends_at),
        "answered_at": None if row.answered_at is None else iso_milliseconds(row.answered_at),
        "answered_by": row.answered_by,
        "answered_yes": row.status == "yes",
    }
