"""Search over everything: one field for names, numbers, words that were said, and ids.

Each group asks an operation of its own, a few at a time. One that fails says so, and the others are shown.
"""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import anyio
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from callwright.contract.agents.agents import list_agents
from callwright.contract.audiences import list_audiences
from callwright.contract.calls.calls import list_calls
from callwright.contract.calls.transcripts import search_transcripts
from callwright.contract.declaration.operation import AnyOperation
from callwright.contract.deployments.deployments import list_contacts, list_deployments
from callwright.contract.do_not_call import list_do_not_call
from callwright.contract.phone_numbers import list_phone_numbers
from callwright.service.dashboard.asking import Refused
from callwright.service.dashboard.html.pages_of_ids import page_of_id
from callwright.service.dashboard.serving import Pages, shown
from callwright.service.dashboard.visitors import Visitor
from callwright.service.platform.phone import Dialable, masked, read_number

HERE = "/search"
MOST = 5
"""Entries of a group."""
WITHIN_S = 8.0
"""Seconds after which a group is given up."""
_AT_A_TIME = 200
_LOOKED_THROUGH = 1_000
"""The newest campaigns, agents and audiences whose names are looked through; older ones are found by the whole name.

The page says so where there are more.
"""
_NEWEST_CAMPAIGNS = 4
"""Campaigns whose contacts are searched, also those who were not called yet."""
_AT_ONCE = 4
_LONGEST = 200
_MOST_TURNS = 10
"""Turns of a call among which the one with most of the words is shown."""
_DIGITS_OF_A_NUMBER = 7
_ID = re.compile(r"[a-z]{3}_[0-9A-Za-z]{8,36}")


@dataclass(frozen=True)
class Hit:
    """Something that was found: its address, its name, and what else is said of it."""

    href: str
    name: str
    said: Sequence[str] = ()
    state: str | None = None
    at: str | None = None


@dataclass
class Group:
    """What was found of one kind. `all` leads to the whole list; `failed` says what went wrong.

    `bound` says that not all were looked through.
    """

    heading: str
    all: str | None = None
    hits: list[Hit] = field(default_factory=list[Hit])
    failed: str | None = None
    bound: str | None = None


Find = Callable[[Group], Awaitable[None]]


def routes(pages: Pages) -> list[Route]:
    """The routes."""

    async def search(request: Request, visitor: Visitor) -> Response:
        words = request.query_params.get("q", "").strip()[:_LONGEST]
        if _ID.fullmatch(words) is not None and (page := page_of_id(words)) is not None:
            return RedirectResponse(page, 303)
        groups = await _found(visitor, words) if words else []
        found = [group for group in groups if group.hits or group.failed or group.bound]
        return shown(visitor, HERE, "search.html", "Search", {"words": words, "groups": found})

    async def old_address(request: Request, visitor: Visitor) -> Response:
        return RedirectResponse(f"{HERE}?{request.url.query}" if request.url.query else HERE, 303)

    return [pages.route(HERE, search, here=HERE), pages.route("/calls/search", old_address, here=HERE)]


async def _found(visitor: Visitor, words: str) -> list[Group]:
    """All groups, in the order in which they are shown."""
    finding = Finding(visitor, words)
    await finding.read_as_at_home()
    groups: list[tuple[Group, Find]] = [
        (Group("Campaigns", "/campaigns"), finding.named(list_deployments, "/campaigns/")),
        (Group("People"), finding.people),
        (Group("What was said"), finding.said),
        (Group("Agents", "/agents"), finding.named(list_agents, "/agents/")),
        (Group("Audiences", "/audiences"), finding.named(list_audiences, "/audiences/")),
        (Group("Numbers", "/numbers"), finding.numbers),
        (Group("Do not call", "/do-not-call"), finding.do_not_call),
    ]
    limit = anyio.Semaphore(_AT_ONCE)

    async def one(group: Group, find: Find) -> None:
        async with limit:
            try:
                with anyio.fail_after(WITHIN_S):
                    await find(group)
            except TimeoutError:
                group.failed = "This took too long. Search in its own list."
            except Refused as refused:
                group.failed = refused.message

    async with anyio.create_task_group() as tasks:
        for group, find in groups:
            tasks.start_soon(one, group, find)
    return [group for group, _ in groups]


def _best(snippets: Sequence[Mapping[str, Any]], parts: Sequence[str]) -> Sequence[Mapping[str, Any]]:
    """The turn with most of the words: first one that has them in their order; of equal ones the contact's."""

    def worth(snippet: Mapping[str, Any]) -> tuple[bool, int, bool]:
        text = snippet["text"].casefold()
        return " ".join(parts) in text, sum(part in text for part in parts), snippet["role"] == "contact"

    return [max(snippets, key=worth)] if snippets else []


class Finding:
    """Finds what fits the words, kind by kind."""

    def __init__(self, visitor: Visitor, words: str) -> None:
        self._visitor, self._words = visitor, words
        read = read_number(words)
        self._number = read.e164 if isinstance(read, Dialable) else None

    def named(self, operation: AnyOperation, address: str) -> Find:
        """Things whose name has all the words, and the one that has exactly this name."""
        parts = self._words.casefold().split()

        async def find(group: Group) -> None:
            ask, looked, cursor = self._visitor.ask, 0, None
            fits = (await ask.many(operation, name=self._words, per_page=1)).data
            while len(fits) < MOST:
                page = await ask.many(operation, per_page=_AT_A_TIME, **({"cursor": cursor} if cursor else {}))
                known, looked, cursor = {one["id"] for one in fits}, looked + len(page.data), page.next_cursor
                named = (one for one in page.data if all(part in one["name"].casefold() for part in parts))
                fits += [one for one in named if one["id"] not in known]
                if cursor is None:
                    break
                if looked >= _LOOKED_THROUGH:
                    group.bound = (
                        f"Part of a name was looked for among the newest {looked:,} of {page.total:,}. An older one is "
                        "found by its whole name, or in its list."
                    )
                    break
            group.hits = [Hit(address + one["id"], one["name"], state=one.get("status")) for one in fits[:MOST]]

        return find

    async def people(self, group: Group) -> None:
        """People by name or number: those who were called, then contacts of the newest campaigns."""
        ask = self._visitor.ask
        of_calls = {"contact_name": self._words} if self._number is None else {"to": self._number}
        of_contacts = {"name": self._words} if self._number is None else {"phone_number": self._number}
        called = (await ask.many(list_calls, per_page=4 * MOST, **of_calls)).data
        hits: dict[str, Hit] = {}
        for call in called:
            if call["to"] not in hits and call["call_type"] == "outbound":
                name = call["contact_name"] or "A person"
                said = (masked(call["to"]), f"last call {(call['outcome'] or call['status']).replace('_', ' ')}")
                hits[call["to"]] = Hit(f"/calls/{call['id']}/person", name, said, call["disposition"])
        for campaign in (await ask.many(list_deployments, call_type="outbound", per_page=_NEWEST_CAMPAIGNS)).data:
            if len(hits) >= MOST:
                break
            contacts = await ask.many(list_contacts, id=campaign["id"], per_page=MOST, **of_contacts)
            for one in contacts.data:
                address = f"/campaigns/{campaign['id']}/contacts/{one['id']}"
                said = (masked(one["phone_number"]), f"in {campaign['name']}")
                hits.setdefault(one["phone_number"], Hit(address, one["name"] or "A contact", said, one["status"]))
        group.hits = list(hits.values())[:MOST]
        group.all = f"/calls?{urlencode(of_calls)}" if called else None

    async def said(self, group: Group) -> None:
        """Calls on which the words were said, each with the turn."""
        if self._number is not None:
            return
        parts = [part.casefold() for part in self._words.replace('"', " ").split()]
        phrase = f'"{" ".join(parts)}"'
        found: dict[str, Mapping[str, Any]] = {}
        for query in (phrase, self._words) if len(parts) > 1 else (self._words,):  # who said just this comes first
            if len(found) < MOST:
                asked = {"query": query, "per_page": MOST, "snippets": _MOST_TURNS}
                for one in (await self._visitor.ask.many(search_transcripts, **asked)).data:
                    found.setdefault(one["call_id"], one)
        for one in list(found.values())[:MOST]:
            for snippet in _best(one["snippets"], parts):
                address = f"/calls/{one['call_id']}#turn-{snippet['turn_index']}"
                said = (f"{snippet['role']}: {snippet['text']}",)
                name = one["contact_name"] or "A call"
                group.hits.append(Hit(address, name, said, one["disposition"], one["created_at"]))
        if group.hits:
            group.all = f"/calls/said?{urlencode({'q': self._words})}"

    async def read_as_at_home(self) -> None:
        """Reads digits without a + as a number of the country in which the organization has numbers."""
        digits = sum(one.isdigit() for one in self._words)
        if self._number is None and digits >= _DIGITS_OF_A_NUMBER and not any(one.isalpha() for one in self._words):
            for own in (await self._visitor.ask.many(list_phone_numbers, per_page=MOST)).data:
                read = read_number(self._words, own["country"])
                if isinstance(read, Dialable):
                    self._number = read.e164
                    return

    async def numbers(self, group: Group) -> None:
        """The organization's own numbers, by their digits or their label."""
        digits = "".join(one for one in self._words if one.isdigit())
        wanted = self._words.casefold()
        listed = await self._visitor.ask.many(list_phone_numbers, per_page=_AT_A_TIME)
        if listed.next_cursor is not None:
            group.bound = f"Only the newest {_AT_A_TIME} numbers were looked through."
        for one in listed.data:
            is_number = len(digits) >= 4 and digits in one["number"]
            if is_number or wanted in (one["label"] or "").casefold():
                group.hits.append(Hit(f"/numbers/{one['id']}", one["number"], (one["label"] or "",), one["status"]))
        group.hits = group.hits[:MOST]

    async def do_not_call(self, group: Group) -> None:
        """Entries of the do-not-call list with this number."""
        if self._number is None:
            return
        for one in (await self._visitor.ask.many(list_do_not_call, number=self._number, per_page=MOST)).data:
            said = (one["reason"].replace("_", " "), "on the simulated list" if one["simulated"] else "")
            group.hits.append(Hit(f"/do-not-call/{one['id']}", masked(one["number"]), said, at=one["created_at"]))
