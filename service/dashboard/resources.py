"""One resource as a page: its fields, the lists that belong to it, and what can be done with it."""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from callwright.contract.declaration.operation import AnyOperation
from callwright.contract.problems import REVISION_MISMATCH
from callwright.service.dashboard import forms_sent_once
from callwright.service.dashboard.asking import Page, Refused
from callwright.service.dashboard.html.field_names import label_of
from callwright.service.dashboard.html.forms import FormField, form_fields, input_of
from callwright.service.dashboard.listings import Choices, ListPage, list_context, page_of, value_at
from callwright.service.dashboard.serving import Pages, View, keeping, shown
from callwright.service.dashboard.visitors import Visitor, one
from callwright.service.dashboard.whole_numbers import revealed
from callwright.service.handlers.people.whole_numbers import NumberPlace

Fills = Callable[[Visitor, dict[str, Any]], Awaitable[None]]


@dataclass(frozen=True)
class Fact:
    """A line of a resource: its words, where its value stands, and how it is shown (`prose`: in several lines)."""

    label: str
    at: str
    kind: str = "text"
    link: str | None = None


def fact(at: str, kind: str = "text", link: str | None = None) -> Fact:
    """A line with the name that people have for its field, see `field_names.py`."""
    return Fact(label_of(at), at, kind, link)


@dataclass(frozen=True)
class Action:
    """Something that can be done: `words` say what it will do, before it is done."""

    name: str
    operation: AnyOperation
    verb: str
    words: str
    is_grave: bool = False
    leads_to: str | None = None
    """Where one goes after that; the page of the resource if it is left out."""
    possible: Callable[[Mapping[str, Any]], bool] = lambda _: True


@dataclass(frozen=True)
class ResourcePage:
    """A resource as a page. `path` has `{id}`; `related` are lists that take its id, each under its own heading."""

    here: str
    path: str
    operation: AnyOperation
    title: str
    facts: Sequence[Fact]
    related: Sequence[ListPage] = ()
    actions: Sequence[Action] = ()
    links: Sequence[tuple[str, str]] = ()
    """Addresses and words of pages that belong to it, with fields of the resource in braces."""
    forms: Sequence[tuple[str, str]] = ()
    """The same of pages that change something, which a viewer is not shown."""
    explains: str = ""
    """What the page shows, where its title and its facts do not say it."""
    state: str | None = None
    number_at: str | None = None
    """Where a number stands that a member may see whole; None where there is none."""
    template: str = "resource.html"
    more: Callable[[Visitor, Mapping[str, Any]], Awaitable[Mapping[str, Any]]] | None = None
    """What a template of its own shows beside that, of the resource."""


@dataclass(frozen=True)
class FormPage:
    """A form for an operation. With `reads` it changes a thing, and shows it as it is first.

    `leads_to` is where one goes after that, with fields of the answer in braces; without it the answer itself is shown,
    as where it has a secret that is shown once.
    """

    here: str
    path: str
    title: str
    operation: AnyOperation
    names: Sequence[str]
    verb: str
    intro: str = ""
    leads_to: str | None = None
    reads: AnyOperation | None = None
    fills: Callable[[Mapping[str, Any]], Mapping[str, Any]] = lambda found: found
    """What stands in the form first, of what `reads` gave."""
    choices: Choices | None = None
    once_shown: Sequence[tuple[str, str]] = ()
    """Fields of the answer that are shown once, with what each is for."""
    more: Sequence[str] = ()
    """Fields that an ordinary case does not need; they stand behind `More`."""
    presets: Fills | None = None
    """Puts what is most likely into the fields of a new form."""
    completes: Fills | None = None
    """Puts what follows from other fields into what is sent."""
    after: str = "Go on"
    """The button below what is shown once."""


def resource_route(pages: Pages, wanted: ResourcePage) -> list[Route]:
    """The routes of a resource and of what can be done with it."""

    async def view(request: Request, visitor: Visitor) -> Response:
        whole = None
        if request.method == "POST":
            await pages.visitors.form(request, visitor)
            whole = await revealed(pages.visitors.services, visitor, NumberPlace(request.path_params["id"]))
        found = await visitor.ask.one(wanted.operation, **_path_fields(request, wanted.operation))
        related: list[dict[str, Any]] = []
        for listing in wanted.related:
            given = {name: found["id"] for name in listing.operation.path_fields}
            related.append(await _related(visitor, listing, request.query_params, given))
        links = (*wanted.forms, *wanted.links) if visitor.may_change else wanted.links
        context = {
            "facts": [_fact(fact, found) for fact in wanted.facts],
            "state": None if wanted.state is None else value_at(found, wanted.state),
            "related": related,
            "query": keeping(request.query_params),
            "actions": [action for action in wanted.actions if visitor.may_change and action.possible(found)],
            "links": [(address.format_map(found), words) for address, words in links],
            "explains": wanted.explains,
            "address": request.url.path.removesuffix("/number") if whole else request.url.path,
            "resource": found,
            "hidden_number": None if wanted.number_at is None else value_at(found, wanted.number_at),
            "whole_number": whole,
            **({} if wanted.more is None else await wanted.more(visitor, found)),
        }
        title = str(value_at(found, wanted.title) or wanted.title)
        return shown(visitor, wanted.here, wanted.template, title, context)

    return [
        pages.route(wanted.path, view, here=wanted.here),
        *([] if wanted.number_at is None else [_number_route(pages, wanted, view)]),
        *(_action_route(pages, wanted, action) for action in wanted.actions),
    ]


async def _related(visitor: Visitor, listing: ListPage, query: QueryParams, given: Mapping[str, Any]) -> dict[str, Any]:
    """A list that belongs to a resource. What a filter gets wrong stands above it."""
    refused: Refused | None = None
    found = Page([], False, None, None)
    try:
        found = await page_of(visitor, listing, query, **given)
    except Refused as error:
        if not listing.filters:
            raise
        refused = error
    return {**list_context(listing, found, query, refused), "title": listing.title}


def _number_route(pages: Pages, wanted: ResourcePage, view: View) -> Route:
    return pages.route(f"{wanted.path}/number", view, methods=("POST",), here=wanted.here)


def _fact(fact: Fact, found: Mapping[str, Any]) -> dict[str, Any]:
    value = value_at(found, fact.at)
    if fact.kind == "json":
        value = json.dumps(value, indent=2, ensure_ascii=False)
    link = fact.link.format_map(found) if fact.link is not None and value else None
    return {"label": fact.label, "value": value, "kind": fact.kind, "link": link, "is_second": False}


def _path_fields(request: Request, operation: AnyOperation) -> dict[str, str]:
    return {name: request.path_params[name] for name in operation.path_fields}


def _action_route(pages: Pages, wanted: ResourcePage, action: Action) -> Route:
    async def view(request: Request, visitor: Visitor) -> Response:
        back = request.url.path.rpartition("/")[0]
        if request.method == "POST":
            fields = await pages.visitors.form(request, visitor)
            key = forms_sent_once.key_of(fields) if action.operation.method == "POST" else None
            answer = await visitor.ask.one(action.operation, key=key, **_path_fields(request, action.operation))
            return RedirectResponse(action.leads_to.format_map(answer) if action.leads_to else back, 303)
        found = await visitor.ask.one(wanted.operation, **_path_fields(request, wanted.operation))
        context = {
            "action": action,
            "name": value_at(found, wanted.title) or wanted.title,
            "back": back,
            "once": forms_sent_once.new_mark(),
        }
        return shown(visitor, wanted.here, "action.html", f"{action.verb}?", context)

    place = f"{wanted.path}/{action.name}"
    return pages.route(place, view, methods=("GET", "POST"), here=wanted.here, for_members=True)


def revision_of(found: Mapping[str, Any]) -> str:
    """The revision of a thing that a form shows; empty where it has none."""
    return str(found.get("revision") or "")


def expected_of(operation: AnyOperation, path: Mapping[str, str], fields: Mapping[str, list[str]]) -> dict[str, Any]:
    """What the operation is told of the revision that stood in a form, so that nobody's change is written over."""
    seen = one(fields, "revision")
    if not seen or "expected_revisions" not in operation.takes.model_fields:
        return {}
    return {"expected_revisions": dict.fromkeys(path.values(), seen)}


def changed_meanwhile(error: Refused) -> Refused:
    """The refusal of a change of what somebody else has changed since the form was opened, in words for a page."""
    words = "Somebody has changed this since you opened the form. Save again, and yours takes the place of theirs."
    return Refused(error.status, error.code, words)


def form_route(pages: Pages, wanted: FormPage) -> Route:
    """The route of a form: what is wrong stands beside the field, and what was typed stays."""

    async def view(request: Request, visitor: Visitor) -> Response:
        given: Mapping[str, Any] = dict(request.query_params)
        path = _path_fields(request, wanted.operation)
        refused: Refused | None = None
        fields: Mapping[str, list[str]] = {}
        revision = ""
        if request.method == "POST":
            fields = await pages.visitors.form(request, visitor)
            revision = one(fields, "revision")
            given = sent = input_of(wanted.operation, wanted.names, fields)
            expected = expected_of(wanted.operation, path, fields)
            if wanted.completes is not None:
                await wanted.completes(visitor, sent)
            try:
                key = forms_sent_once.key_of(fields) if wanted.operation.method == "POST" else None
                answer = await visitor.ask.one(wanted.operation, key=key, **sent, **path, **expected)
            except Refused as error:
                refused = error
                if error.code == REVISION_MISMATCH.code and wanted.reads is not None:
                    revision = revision_of(await visitor.ask.one(wanted.reads, **path))
                    refused = changed_meanwhile(error)
            else:
                if wanted.leads_to is not None:
                    return RedirectResponse(wanted.leads_to.format_map({**path, **answer}), 303)
                return _once_shown(visitor, wanted, answer)
        elif wanted.reads is not None:
            found = await visitor.ask.one(wanted.reads, **_path_fields(request, wanted.reads))
            given, revision = wanted.fills(found), revision_of(found)
        elif wanted.presets is not None:
            preset: dict[str, Any] = {}
            await wanted.presets(visitor, preset)
            given = {**preset, **given}
        choices = None if wanted.choices is None else await wanted.choices(visitor)
        made = form_fields(wanted.operation, wanted.names, given, refused, choices, wanted.more)
        context = {
            "fields": [field for field in made if not field.is_more],
            "more": [field for field in made if field.is_more],
            "refused": None if refused is None else _not_said_beside(refused, made),
            "intro": wanted.intro,
            "verb": wanted.verb,
            "back": wanted.here if wanted.reads is None else request.url.path.rpartition("/")[0],
            "once": forms_sent_once.mark_of(fields),
            "revision": revision,
        }
        status = 200 if refused is None else refused.status
        return shown(visitor, wanted.here, "form.html", wanted.title, context, status=status)

    return pages.route(wanted.path, view, methods=("GET", "POST"), here=wanted.here, for_members=True)


def _not_said_beside(refused: Refused, made: Sequence[FormField]) -> str:
    """What stands above a form that was refused: not again what stands beside its fields."""
    faulty = [field.label for field in made if field.fault]
    return f"Not done yet. Look at: {', '.join(faulty)}." if faulty else refused.message


def _once_shown(visitor: Visitor, wanted: FormPage, answer: Mapping[str, Any]) -> Response:
    shown_once = [(label_of(name), words, answer.get(name)) for name, words in wanted.once_shown]
    back = f"{wanted.here}/{answer['id']}" if "id" in answer else wanted.here
    context = {"once_shown": shown_once, "back": back, "back_words": wanted.after}
    return shown(visitor, wanted.here, "once_shown.html", wanted.title, context)
