"""Deletes what is kept about one person, so much in each unit of work that others are not held up.

What is left is found again by the number, so the next request goes on where this one, or a crash, stopped.
"""

import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Row, Select, bindparam, case, delete, select, update

from callwright.contract import people as contract
from callwright.contract.people import DELETED_NUMBER
from callwright.contract.problems import CALL_UNDER_WAY
from callwright.list_files.name_columns import name_of
from callwright.service.accounts import confirmations
from callwright.service.dialling.eligibility.attempts import longest_memory_ms
from callwright.service.dialling.eligibility.evidence import without_cells
from callwright.service.dialling.eligibility.gate import PERSON_DELETED
from callwright.service.handlers.people import forgotten_rows, stored_answers
from callwright.service.handlers.people.person import Person
from callwright.service.handlers.request_context import RequestContext, handles
from callwright.service.inbound import browser_callers, callers
from callwright.service.inbound.routing import log
from callwright.service.platform.json_text import json_text
from callwright.service.platform.phone import line_of
from callwright.service.platform.refusals import Refusal, invalid
from callwright.service.rules.deployment_states import TERMINAL
from callwright.service.tables import calls_by_name, forgotten_calls, transcript_search
from callwright.service.tables.counters import moved
from callwright.service.tables.forgotten_calls import ForgottenCall
from callwright.service.tables.rules_files import current_rules
from callwright.service.tables.schema import (
    calls,
    deliveries,
    delivery_attempts,
    deployment_contacts,
    deployments,
    import_errors,
    imports,
    outbox,
    transcripts,
)

_K, _C, _D, _E, _I = deployment_contacts.c, calls.c, deployments.c, import_errors.c, imports.c
STEP = 500
"""Entries of each kind that one request deletes."""
_MOST_IMPORTS = 100
_LOCKED = select(_D.id, _D.status, _D.states).where(_D.id.in_(bindparam("ids", expanding=True))).order_by(_D.id)
_OPEN_IMPORTS = (
    select(_I.id)
    .where(_I.org_id == bindparam("org"), _I.completed_at.is_(None))
    .order_by(_I.created_at, _I.id)
    .limit(_MOST_IMPORTS)
)
_REMOVE = delete(deployment_contacts).where(_K.deployment_id == bindparam("b_deployment"), _K.id == bindparam("b_id"))
_WITH_LESS_EVIDENCE = update(calls).where(_C.id == bindparam("b_id")).values(evidence=bindparam("b_evidence"))
_WITHOUT_NOTE = update(calls).where(_C.id == bindparam("b_id")).values(corrected=bindparam("b_corrected"))
_WAITING = ("pending", "retry_waiting")
_LIST_IT = (
    "The number is not on the do-not-call list: if the person wants no more calls, put it there, because a later list "
    "may bring it again."
)


@handles(contract.delete_person)
def delete_person(asked: contract.DeletePerson, context: RequestContext) -> contract.PersonDeletion:
    """What was deleted of a person. The entry of the do-not-call list stays.

    Raises:
        Refusal: call_under_way while the person is being called; then nothing is deleted.
    """
    if not asked.confirm:
        raise invalid("confirm", "has to be true, because it cannot be undone")
    person, connection = Person.of(context, asked.number), context.connection
    rows = forgotten_rows.locked(connection, person, most=STEP)
    contacts, campaigns = _locked_contacts(connection, person)
    _check_no_call(connection, person)
    called = [*_some(connection, person.calls_to()), *_some(connection, person.calls_from())][:STEP]
    refused = person.refused_rows_of((*rows, *called)).find(connection, most=STEP)
    complete = all(len(found) < STEP for found in (refused, rows, contacts, called))
    if len(refused) == STEP:  # others may be left, which are found only by the own ids of these rows and calls
        rows, called = (), []
    stored_answers.clean(connection, person.org_id, _mentions(person, rows, called))
    forgotten_rows.forget(connection, rows, now_ms=context.now_ms)
    waiting = _forget_contacts(connection, contacts, campaigns)
    _keep_counting(connection, person, called, context.now_ms)
    _forget_calls(connection, person, called)
    callers.forget_person(connection, person.org_id, person.numbers)
    browser_callers.forget_person(connection, person.org_id, person.numbers)
    confirmations.forget_all(connection, person.org_id)
    connection.execute(delete(import_errors).where(_E.id.in_([row.id for row in refused])))
    listed = connection.execute(person.listed()).first() is not None
    open_imports = list(connection.execute(_OPEN_IMPORTS, {"org": person.org_id}).scalars())
    return contract.PersonDeletion(
        id=person.id(context),
        complete=complete,
        deleted=contract.PersonCounts(
            audience_rows=len(rows), contacts=len(contacts), refused_rows=len(refused), calls=len(called)
        ),
        waiting_removed=waiting,
        do_not_call="kept" if listed else "absent",
        open_imports=open_imports,
        advice=None if listed else _LIST_IT,
    )


def _some(connection: Connection, statement: Select[*tuple[Any, ...]]) -> Sequence[Row[Any]]:
    return connection.execute(statement.limit(STEP)).all()


def _check_no_call(connection: Connection, person: Person) -> None:
    """Raises `Refusal`: call_under_way. Deployments of waiting contacts are locked, so none begins meanwhile."""
    for each in (person.calls_to(), person.calls_from()):
        under_way = each.with_only_columns(_C.id).where(_C.ended_at.is_(None)).limit(1)
        if (call_id := connection.execute(under_way).scalar()) is not None:
            message = f"call {call_id} with this person has not ended; nothing was deleted"
            raise Refusal(CALL_UNDER_WAY, message, details={"call_id": call_id})


def _locked_contacts(connection: Connection, person: Person) -> tuple[Sequence[Row[Any]], dict[str, Row[Any]]]:
    """Contacts of the person and the campaigns that they are in, locked, so that none of them is called meanwhile."""
    found = _some(connection, person.contacts())
    ids = sorted({row.deployment_id for row in found})
    campaigns: Any = connection.execute(_LOCKED.with_for_update(), {"ids": ids}).all() if ids else ()
    again = person.contacts().where(_K.deployment_id.in_(ids)).limit(STEP)
    contacts: Any = connection.execute(again).all() if ids else ()
    return contacts, {row.id: row for row in campaigns}


def _forget_contacts(connection: Connection, contacts: Sequence[Row[Any]], campaigns: dict[str, Row[Any]]) -> int:
    """Deletes contacts of campaigns that have ended, and takes the number out of the others. How many waited.

    In a campaign that goes on the contact is suppressed for good, so that its counters stay those of its contacts.
    """
    gone = [row for row in contacts if campaigns[row.deployment_id].status in TERMINAL]
    stay = [row for row in contacts if campaigns[row.deployment_id].status not in TERMINAL]
    if gone:
        connection.execute(_REMOVE, [{"b_deployment": row.deployment_id, "b_id": row.id} for row in gone])
    moves: dict[str, list[tuple[str | None, str | None]]] = {}
    for row in stay:
        stopped = row.status in (*_WAITING, "suppressed")
        values: dict[str, Any] = {"phone": DELETED_NUMBER}
        if stopped:
            values |= {"status": "suppressed", "status_reason": PERSON_DELETED, "due_at": None, "next_at": None}
        own = (_K.deployment_id == row.deployment_id, _K.id == row.id)
        connection.execute(update(deployment_contacts).where(*own).values(**values))
        if row.status in _WAITING:
            moves.setdefault(row.deployment_id, []).append((row.status, "suppressed"))
    for deployment_id, changes in moves.items():
        states = moved(campaigns[deployment_id].states, changes)
        connection.execute(update(deployments).where(_D.id == deployment_id).values(states=states))
    return sum(map(len, moves.values()))


def _keep_counting(connection: Connection, person: Person, called: Sequence[Row[Any]], now_ms: int) -> None:
    """The calls to the person go on counting for the caps and pauses of a number that a later list brings again."""
    made = [row for row in called if row.call_type == "outbound"]
    if not made:
        return
    kept = [ForgottenCall(row.id, row.created_at, row.outcome, row.simulated) for row in made]
    memory_ms = longest_memory_ms(current_rules(connection))
    forgotten_calls.keep(connection, person.org_id, line_of(person.numbers[0]), kept, now_ms - memory_ms)


def _forget_calls(connection: Connection, person: Person, called: Sequence[Row[Any]]) -> None:
    """Takes what is about the person out of calls that have ended. Times, outcomes and costs stay.

    A call without turns, or with `recorded` false, has no recording: nobody is given it any more, and the next sweep
    removes its file.
    """
    ids = [row.id for row in called]
    if not ids:
        return
    transcript_search.remove(connection, ids)
    connection.execute(delete(transcripts).where(transcripts.c.call_id.in_(ids)))
    log.forget_caller(connection, ids)
    they_called = _C.call_type == "inbound"
    connection.execute(
        update(calls)
        .where(_C.id.in_(ids))
        .values(
            to_number=case((they_called, _C.to_number), else_=DELETED_NUMBER),
            from_number=case((they_called, DELETED_NUMBER), else_=_C.from_number),
            contact_name=None,
            name_words=None,
            external_id=None,
            variables="{}",
            unanswered_questions="[]",
            warnings="[]",
            turn_count=0,
            recorded=case((_C.carrier.is_not(None), False)),
        )
    )
    calls_by_name.remove(connection, person.org_id, called)
    noted = [
        {"b_id": row.id, "b_corrected": json_text({**json.loads(row.corrected), "note": ""})}
        for row in called
        if row.corrected
    ]
    if noted:
        connection.execute(_WITHOUT_NOTE, noted)
    said = [
        {"b_id": row.id, "b_evidence": less} for row in called if row.evidence and (less := without_cells(row.evidence))
    ]
    if said:
        connection.execute(_WITH_LESS_EVIDENCE, said)
    told = select(outbox.c.id).where(outbox.c.subject_id.in_(ids), outbox.c.org_id == person.org_id)
    sent = select(deliveries.c.id).where(deliveries.c.event_id.in_(told))
    # An endpoint may have answered with anything, the person's name too. The events have ids only.
    connection.execute(
        update(delivery_attempts).where(delivery_attempts.c.delivery_id.in_(sent)).values(response_excerpt="")
    )


def _mentions(person: Person, rows: Sequence[Row[Any]], called: Sequence[Row[Any]]) -> stored_answers.Mentions:
    lists = [json.loads(row.cells) for row in rows] + [json.loads(row.variables) for row in called]
    names = {name for cells in lists if (name := name_of(cells))} | {row.contact_name for row in called}
    cells = {text for values in lists for text in values.values()}
    cells |= {row.external_id for row in (*rows, *called)}
    audience_ids = {row.audience_id for row in (*rows, *called)}
    return stored_answers.Mentions(
        person.numbers, _texts(names), _texts(cells), frozenset(each for each in audience_ids if each)
    )


def _texts(found: set[Any]) -> frozenset[str]:
    return frozenset(str(text) for text in found if text)
