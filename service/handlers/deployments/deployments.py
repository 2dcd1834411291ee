"""Creates, reads, updates and deletes deployments. `actions.py` starts and stops them."""

from functools import partial
from typing import Any

import orjson
from sqlalchemy import bindparam, delete, func, insert, literal, select

from callwright.contract.declaration.field_types import Spend
from callwright.contract.declaration.pagination import MOST_COUNTED, Page
from callwright.contract.deployments import deployments as contract
from callwright.contract.deployments.contacts import Contact, ListContacts
from callwright.contract.deployments.inbound import ANSWERING
from callwright.contract.problems import MISSING_FIELD, PLAN_REQUIRED
from callwright.service.campaigns import spending_cap
from callwright.service.campaigns.start_guards import (
    audience_of,
    check_daily_cap,
    missing_column_said,
    missing_columns,
    still_importing,
)
from callwright.service.dialling import changed_rules
from callwright.service.dialling.eligibility.campaign_hours import CampaignHours
from callwright.service.handlers import audiences as audience_handlers
from callwright.service.handlers import phone_numbers as number_handlers
from callwright.service.handlers.agents import agents as agent_handlers
from callwright.service.handlers.changes import check_name_free, given
from callwright.service.handlers.deployments import inbound
from callwright.service.handlers.deployments.actions import start
from callwright.service.handlers.deployments.rows import (
    NAMED,
    SEEN,
    change,
    check_concurrency,
    check_no_talk,
    check_reserved,
    find,
    get_resource,
    kept_agent,
)
from callwright.service.handlers.deployments.view import show_contact, shown_status, to_resource
from callwright.service.handlers.request_context import RequestContext, handles
from callwright.service.platform.clock.clock import DAY, milliseconds
from callwright.service.platform.database.listing import Finder, Listing, RowScan, filter_conditions, wanted_of
from callwright.service.platform.json_text import json_text
from callwright.service.platform.money import micros
from callwright.service.platform.refusals import Refusal, invalid
from callwright.service.platform.search_words import stored_words
from callwright.service.rules import webhook_url
from callwright.service.rules.deployment_states import check_action, check_editable, meant
from callwright.service.tables import contacts_by_name, deployment_costs
from callwright.service.tables.campaign_settings import changed_columns, columns_of, settings_in
from callwright.service.tables.contacts_by_counters import ByCounters, counted
from callwright.service.tables.schema import (
    audience_rows,
    calls,
    deployment_contacts,
    deployment_numbers,
    deployments,
    idempotency_keys,
)

_D, _K, _KEYS = deployments.c, deployment_contacts.c, idempotency_keys.c
_ANSWERS = select(_KEYS.body).where(
    _KEYS.org_id == bindparam("org"),
    _KEYS.key == bindparam("key"),
    _KEYS.created_at > bindparam("since"),
    _KEYS.body.like('{"data":{"id":"dep@_%', escape="@"),
)


_OTHER_NETWORK = (
    "would change whether telephones really ring; clone the deployment with these numbers, preview the clone and start "
    "it by that plan"
)


@handles(contract.list_deployments)
def list_deployments(asked: contract.ListDeployments, context: RequestContext) -> Page[contract.Deployment]:
    """A page of deployments."""
    names = ("call_type", "name", "agent_id", "audience_id", "created_at", "updated_at")
    columns: dict[str, Any] = {name: _D[name] for name in names}
    columns["status"] = shown_status(context.full_at_ms)
    columns["started_at"] = func.coalesce(_D.started_at, 0)
    rows = SEEN.where(_D.org_id == context.org_id)
    if asked.idempotency_key is not None:
        rows = rows.where(_D.id.in_(_answered_with(context, asked.idempotency_key)))
        columns["idempotency_key"] = literal(asked.idempotency_key)  # the rows are already limited to it
    listing = Listing(contract.list_deployments, rows, columns, _D.id)
    return context.page(
        listing, asked, partial(to_resource, connection=context.connection, full_at_ms=context.full_at_ms)
    )


def _answered_with(context: RequestContext, key: str) -> list[str]:
    """The ids of the deployments in the answers to requests with this idempotency key, whichever API key sent them."""
    given_ = {"org": context.org_id, "key": key, "since": context.now_ms - DAY}
    return [orjson.loads(body)["data"]["id"] for body in context.connection.execute(_ANSWERS, given_).scalars()]


@handles(contract.get_deployment)
def get_deployment(asked: contract.GetDeployment, context: RequestContext) -> contract.Deployment:
    """One deployment."""
    return get_resource(context, asked.id)


def _network_of(context: RequestContext, number_ids: list[str], field: str) -> bool:
    """Whether calls from these numbers are simulated. All have one provider, which makes the calls."""
    providers: dict[str, bool] = {}
    for place, number_id in enumerate(number_ids):
        if number_id in number_ids[:place]:
            raise invalid(field, f"names {number_id} twice")
        number = number_handlers.find(context, number_id, field=field)
        if number.status != "active":
            raise invalid(field, f"{number_id} is not active")
        providers[number.provider] = bool(number.simulated)
    if len(providers) > 1:
        names = " and ".join(sorted(providers))
        raise invalid(field, f"has numbers of {names}: a deployment calls from numbers of one provider")
    return next(iter(providers.values()))


def _check_predial_url(context: RequestContext, url: str | None) -> None:
    if url is None:
        return
    try:
        webhook_url.check(url, opened=context.settings.webhook_networks)
    except ValueError as error:
        raise invalid("predial_check_url", str(error)) from error


def _check_times(start_ms: int | None, end_ms: int | None, now_ms: int) -> None:
    if end_ms is not None and end_ms <= max(now_ms, start_ms or 0):
        raise invalid("end_at", "must be later than now and than start_at")


def _set_numbers(context: RequestContext, deployment_id: str, number_ids: list[str]) -> None:
    own = deployment_numbers.c.deployment_id == deployment_id
    context.connection.execute(delete(deployment_numbers).where(own))
    rows = [
        {"deployment_id": deployment_id, "phone_number_id": number_id, "position": position}
        for position, number_id in enumerate(number_ids)
    ]
    context.connection.execute(insert(deployment_numbers), rows)


@handles(contract.create_deployment)
def create_deployment(asked: contract.CreateDeployment, context: RequestContext) -> contract.Deployment:
    """A new deployment, a draft unless auto_start is set."""
    if (asked.phone_number_id is None) == (asked.phone_number_ids is None):
        if asked.phone_number_id is None:
            message = "phone_number_id: is required, or phone_number_ids with several"
            raise Refusal(MISSING_FIELD, message, field="phone_number_id")
        raise invalid("phone_number_id", "excludes phone_number_ids; send one of the two")
    agent = agent_handlers.find(context, asked.agent_id, field="agent_id")
    audience = audience_handlers.find(context, asked.audience_id, field="audience_id")
    field = "phone_number_ids" if asked.phone_number_ids else "phone_number_id"
    number_ids = asked.phone_number_ids or [asked.phone_number_id or ""]
    simulated = _network_of(context, number_ids, field)
    if asked.auto_start and not simulated:
        message = "auto_start: telephones would really ring; make a draft, preview it, then start it with the plan_id"
        raise Refusal(PLAN_REQUIRED, message, field="auto_start")
    check_name_free(context, NAMED, asked.name)
    check_concurrency(context, asked.max_concurrency)
    check_reserved(context, asked.reserved_inbound_concurrency)
    start_ms = milliseconds(asked.start_at) if asked.start_at else None
    end_ms = milliseconds(asked.end_at) if asked.end_at else None
    _check_times(start_ms, end_ms, context.now_ms)
    _check_predial_url(context, asked.predial_check_url)
    missing = missing_columns(agent, audience, asked.voicemail.message_template) if audience.valid_count else []
    if missing:
        raise invalid("audience_id", missing_column_said(missing[0], audience))
    row: dict[str, Any] = {
        **asked.model_dump(include={"name", "agent_id", "audience_id", "max_concurrency"}),
        **columns_of(settings_in(asked)),
        **context.new_row("dep"),
        "status": "draft",
        "status_changed_at": context.now_ms,
        "simulated": simulated,
        "seed": context.settings.sim_seed,
        "phone_number_ids": json_text(number_ids),
        "start_at": start_ms,
        "end_at": end_ms,
        "budget_cap_micros": micros(asked.budget_cap.amount) if asked.budget_cap else None,
        "metadata": json_text(asked.metadata),
    }
    context.connection.execute(insert(deployments), row)
    deployment_id = row["id"]
    _set_numbers(context, deployment_id, number_ids)
    if asked.daily_budget_cap is not None:
        check_daily_cap(context.connection, find(context, deployment_id))
    if asked.auto_start:
        start(context, find(context, deployment_id))
    return get_resource(context, deployment_id)


_OWN = frozenset({"name", "call_type", "phone_number_id", "auto_start", "start_at", "end_at", "budget_cap"})
_COPIED = tuple(name for name in contract.CreateDeployment.model_fields if name not in _OWN)
"""The fields that a clone copies."""


@handles(contract.clone_deployment)
def clone_deployment(asked: contract.CloneDeployment, context: RequestContext) -> contract.Deployment:
    """A draft with the settings of another campaign. Raises `Refusal`: invalid_field for an inbound deployment."""
    check_no_talk(find(context, asked.id, lock=False))
    original = get_resource(context, asked.id)
    if original.call_type == "inbound":
        raise invalid("id", "is an inbound deployment, and its number cannot be bound twice")
    copied: dict[str, Any] = {name: getattr(original, name) for name in _COPIED}
    for name, cap in (("budget_cap", original.budget_cap), ("daily_budget_cap", original.daily_budget_cap)):
        copied[name] = None if cap is None else Spend(amount=cap.amount)
    wanted = {name: value for name in asked.model_fields_set if (value := getattr(asked, name)) is not None}
    del wanted["id"]
    return create_deployment(contract.CreateDeployment(**{**copied, **wanted}), context)


@handles(contract.update_deployment)
def update_deployment(asked: contract.UpdateDeployment, context: RequestContext) -> contract.Deployment:
    """A changed deployment."""
    row = find(context, asked.id)
    check_no_talk(row)
    changes = meant(given(asked), row.call_type)
    check_editable(set(changes), row.status, row.call_type)
    if not changes:
        return get_resource(context, asked.id)
    if row.status == "scheduled" and "start_at" in changes and changes["start_at"] is None:
        raise invalid(
            "start_at",
            "cannot be cleared while the deployment is scheduled; to call at once, preview and start it by that plan",
        )
    if "name" in changes:
        check_name_free(context, NAMED, changes["name"], but=asked.id)
    if "agent_id" in changes:
        agent = agent_handlers.find(context, changes["agent_id"], field="agent_id", lock=row.call_type == "inbound")
        if row.agent_snapshot is not None:
            changes["agent_snapshot"] = json_text(kept_agent(agent))
    if "audience_id" in changes:
        audience_handlers.find(context, changes["audience_id"], field="audience_id")
        if row.status == "scheduled":  # it starts by itself and calls everybody in the audience by then
            audience_of(context.connection, changes["audience_id"], lock=True)
            if waiting_imports := still_importing(context.connection, changes["audience_id"]):
                raise waiting_imports
    if "max_concurrency" in changes:
        check_concurrency(context, changes["max_concurrency"])
    check_reserved(context, changes.get("reserved_inbound_concurrency", 0))
    _check_predial_url(context, changes.get("predial_check_url"))
    settings = inbound.changed_settings(context, row, asked)
    changes = {name: value for name, value in changes.items() if name not in ("inbound", *ANSWERING)}
    if settings is not None:
        changes["inbound"] = settings
    if "phone_number_ids" in changes:
        if _network_of(context, changes["phone_number_ids"], "phone_number_ids") != row.simulated:
            raise invalid("phone_number_ids", _OTHER_NETWORK)
        _set_numbers(context, asked.id, changes["phone_number_ids"])
        changes["phone_number_ids"] = json_text(changes["phone_number_ids"])
    for name in ("start_at", "end_at"):
        if changes.get(name) is not None:
            changes[name] = milliseconds(changes[name])
    if row.status == "scheduled" and "start_at" in changes and changes["start_at"] <= context.now_ms:
        raise invalid(
            "start_at",
            "must be later than now while it is scheduled; to call at once, preview and start it by that plan",
        )
    if "end_at" in changes or "start_at" in changes:
        _check_times(changes.get("start_at", row.start_at), changes.get("end_at", row.end_at), context.now_ms)
    if "budget_cap" in changes:
        cap = changes.pop("budget_cap")
        changes["budget_cap_micros"] = micros(cap.amount) if cap else None
    spending_cap.check_change(context.connection, context.spending_key, row, changes)
    if set(changes) - {"metadata"}:
        changes["settings_changes"] = _D.settings_changes + 1
    change(context, asked.id, **changed_columns(row, changes))
    if changes.get("daily_budget_cap") is not None:
        check_daily_cap(context.connection, find(context, asked.id))
        if row.clock_ms is not None:
            deployment_costs.rebuild(context.connection, asked.id, row.clock_ms)
    changed_rules.rules_changed(context.connection, asked.id, set(changes))
    return get_resource(context, asked.id)


@handles(contract.delete_deployment)
def delete_deployment(asked: contract.DeploymentAction, context: RequestContext) -> None:
    """Removes a draft."""
    check_action("delete", find(context, asked.id).status)
    context.connection.execute(delete(deployment_numbers).where(deployment_numbers.c.deployment_id == asked.id))
    context.connection.execute(delete(deployments).where(_D.id == asked.id))


@handles(contract.list_contacts)
def list_contacts(asked: ListContacts, context: RequestContext) -> Page[Contact]:
    """A page of a deployment's contacts."""
    campaign = find(context, asked.id, lock=False)
    names = ("status", "last_outcome", "last_disposition", "phone", "position")
    known = counted(campaign, wanted_of(asked), asked.per_page)
    everybody = (
        select(
            deployment_contacts,
            *(audience_rows.c[name] for name in ("cells", "timezone", "external_id")),
            calls.c.callback_at,
        )
        .outerjoin(audience_rows, audience_rows.c.id == _K.id)
        .outerjoin(calls, calls.c.id == _K.last_call_id)
    )
    listing = Listing(
        contract.list_contacts,
        everybody.where(_K.deployment_id == asked.id, *known.leads),
        {"name_words": audience_rows.c.name_words, **{name: _K[name] for name in names}},
        _K.id,
        default="position",
        narrow=names if known.leads else (),
    )
    finder: Finder | None = None
    if known.total is not None:
        found = listing.rows.where(*filter_conditions(listing, asked))
        finder = ByCounters(RowScan(context.connection, found, listing.most(asked)), known.total)
    elif asked.name is not None and stored_words(asked.name) and campaign.call_type == "outbound" and not known.leads:
        conditions = filter_conditions(listing, asked)
        finder = contacts_by_name.by_name(
            context.connection, campaign, asked.name, everybody, conditions, most=MOST_COUNTED
        )
    hours = CampaignHours.of(context.connection, campaign)
    return context.page(listing, asked, partial(show_contact, campaign=campaign, hours=hours), finder)
