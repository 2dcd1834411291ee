"""Everything that is kept about one person, page by page."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row, select, tuple_

from callwright.contract import people as contract
from callwright.contract.audiences import AudienceRow
from callwright.contract.calls.calls import TranscriptTurn
from callwright.contract.deployments.contacts import Contact
from callwright.list_files.name_columns import name_of
from callwright.service.dialling.eligibility.campaign_hours import CampaignHours
from callwright.service.handlers.calls import calls as call_handlers
from callwright.service.handlers.deployments.view import show_contact
from callwright.service.handlers.inbound_routing.shown import shown_request
from callwright.service.handlers.people.person import Person, count_of_rows
from callwright.service.handlers.request_context import RequestContext, handles
from callwright.service.handlers.resources import resource
from callwright.service.inbound.routing import log
from callwright.service.tables.schema import audience_rows, calls, deployment_contacts, deployments, transcripts

_R, _K, _C, _D, _T = audience_rows.c, deployment_contacts.c, calls.c, deployments.c, transcripts.c
Read = Callable[[list[str], int], Sequence[Row[Any]]]
"""The entries after a position, at most so many; the position of the beginning is empty."""


@dataclass(frozen=True)
class _Section:
    """A part of an export: how it is read, and what of an entry is its position."""

    name: str
    read: Read
    position: Callable[[Row[Any]], list[str]]


@handles(contract.export_person)
def export_person(asked: contract.ExportPerson, context: RequestContext) -> contract.PersonExport:
    """A page of what is kept about a person. Each page is an entry of the audit log."""
    person = Person.of(context, asked.number)
    binding = f"{context.org_id} export of {min(person.numbers)}".encode()
    begin, position, page = 0, [], 1
    if asked.cursor is not None:
        (begin, position), page, _ = context.cursors.open(asked.cursor, binding)
        page += 1
    found: dict[str, list[Row[Any]]] = {}
    room, following = asked.per_page, None
    sections = _sections(person, context)
    for index, section in enumerate(sections):
        if index < begin:
            continue
        rows = list(section.read(position if index == begin else [], room + 1))
        found[section.name] = rows[:room]
        if len(rows) > room:
            last = rows[room - 1] if room else None
            following = [index, section.position(last) if last is not None else position if index == begin else []]
            break
        room -= len(rows)
    refused = person.refused_rows(context.connection)
    return contract.PersonExport(
        id=person.id(context),
        numbers=list(person.numbers),
        counts=contract.PersonCounts(
            audience_rows=count_of_rows(context.connection, person.rows()),
            contacts=count_of_rows(context.connection, person.contacts()),
            refused_rows=refused.count(context.connection),
            calls=sum(count_of_rows(context.connection, each) for each in (person.calls_to(), person.calls_from())),
        ),
        do_not_call=[resource(contract.ListedNumber, row) for row in context.connection.execute(person.listed())],
        audience_rows=[_audience_row(row) for row in found.get("audience_rows", ())],
        contacts=_contacts(context, found.get("contacts", ())),
        refused_rows=[resource(contract.PersonRefusedRow, row) for row in found.get("refused_rows", ())],
        calls=_calls(context, [*found.get("calls_to", ()), *found.get("calls_from", ())]),
        next_cursor=None if following is None else context.cursors.seal(following, page, 0, binding),
    )


def _sections(person: Person, context: RequestContext) -> list[_Section]:
    connection = context.connection

    def rows(position: list[str], most: int) -> Sequence[Row[Any]]:
        return connection.execute(person.rows().where(_R.id > _first(position)).limit(most)).all()

    def contacts(position: list[str], most: int) -> Sequence[Row[Any]]:
        statement = person.contacts().outerjoin(audience_rows, _R.id == _K.id)
        statement = statement.outerjoin(calls, _C.id == _K.last_call_id)
        statement = statement.add_columns(_R.cells, _R.timezone, _R.external_id, _C.callback_at).limit(most)
        if position:
            statement = statement.where(tuple_(_K.deployment_id, _K.id) > tuple_(*position))
        return connection.execute(statement).all()

    def refused(position: list[str], most: int) -> Sequence[Row[Any]]:
        return person.refused_rows(connection).find(connection, after=_first(position), most=most)

    def calls_to(position: list[str], most: int) -> Sequence[Row[Any]]:
        return connection.execute(person.calls_to().where(_C.id > _first(position)).limit(most)).all()

    def calls_from(position: list[str], most: int) -> Sequence[Row[Any]]:
        return connection.execute(person.calls_from().where(_C.id > _first(position)).limit(most)).all()

    return [
        _Section("audience_rows", rows, _own_id),
        _Section("contacts", contacts, lambda row: [row.deployment_id, row.id]),
        _Section("refused_rows", refused, _own_id),
        _Section("calls_to", calls_to, _own_id),
        _Section("calls_from", calls_from, _own_id),
    ]


def _own_id(row: Row[Any]) -> list[str]:
    return [row.id]


def _first(position: list[str]) -> str:
    return position[0] if position else ""


def _audience_row(row: Row[Any]) -> AudienceRow:
    values, declined = json.loads(row.cells), json.loads(row.declined or "{}")
    return resource(AudienceRow, row, phone_number=row.phone, name=name_of(values), values=values, declined=declined)


def _contacts(context: RequestContext, rows: Sequence[Row[Any]]) -> list[Contact]:
    ids = {row.deployment_id for row in rows}
    found = context.connection.execute(select(deployments).where(_D.id.in_(ids))).all() if ids else ()
    campaigns = {campaign.id: campaign for campaign in found}
    hours = {one.id: CampaignHours.of(context.connection, one) for one in found}
    return [show_contact(row, campaigns[row.deployment_id], hours[row.deployment_id]) for row in rows]


def _calls(context: RequestContext, rows: Sequence[Row[Any]]) -> list[contract.PersonCall]:
    ids = [row.id for row in rows]
    found = context.connection.execute(select(_T.call_id, _T.turns).where(_T.call_id.in_(ids))).all() if ids else ()
    said = {row.call_id: json.loads(row.turns) for row in found}
    routed = {row.call_id: shown_request(row) for row in log.of_calls(context.connection, ids)}
    return [
        contract.PersonCall(
            call=call,
            turns=[TranscriptTurn(**turn) for turn in said.get(call.id, ())],
            routing=routed.get(call.id),
        )
        for call in call_handlers.shown(context, rows)
    ]
