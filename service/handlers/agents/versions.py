"""The versions of agents as callers see them: their list, an agent as it was, and what has changed in between."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel
from sqlalchemy import and_, func, select

from callwright.contract.agents import agents as contract
from callwright.contract.declaration.pagination import Page
from callwright.service.dialling.agent_snapshot import shown_fields
from callwright.service.handlers.agents import agents, kept_versions
from callwright.service.handlers.request_context import RequestContext, handles
from callwright.service.handlers.resources import resource
from callwright.service.platform.database.listing import Listing
from callwright.service.rules.text_differences import differences
from callwright.service.tables.schema import agent_versions, api_keys, users

_V = agent_versions.c
_BEFORE = agent_versions.alias("before")
_WITH_BEFORE = select(
    agent_versions,
    _BEFORE.c.fields.label("fields_before"),
    func.coalesce(api_keys.c.label, users.c.name).label("actor_name"),
).select_from(
    agent_versions.outerjoin(_BEFORE, and_(_BEFORE.c.agent_id == _V.agent_id, _BEFORE.c.version == _V.version - 1))
    .outerjoin(api_keys, and_(api_keys.c.id == _V.actor, api_keys.c.org_id == _V.org_id))
    .outerjoin(users, users.c.id == _V.actor)
)
_SHORT = 120
"""A value of more characters, or of several lines, is shown as a diff."""


@handles(contract.list_agent_versions)
def list_agent_versions(asked: contract.ListAgentVersions, context: RequestContext) -> Page[contract.AgentVersion]:
    """A page of versions, the newest first."""
    agents.find(context, asked.id)
    rows = _WITH_BEFORE.where(_V.agent_id == asked.id, _V.org_id == context.org_id)
    listing = Listing(contract.list_agent_versions, rows, {"version": _V.version}, _V.version, default="-version")
    return context.page(listing, asked, _to_resource)


def _to_resource(row: Any) -> contract.AgentVersion:
    now = shown_fields(kept_versions.fields_of(row))
    before = None if row.fields_before is None else shown_fields(json.loads(row.fields_before))
    changed = [] if before is None else [name for name in now if now[name] != before.get(name)]
    return resource(
        contract.AgentVersion, row, **now, actor_id=row.actor, actor_label=row.actor_name or None, changed=changed
    )


@handles(contract.get_agent)
def get_agent(asked: contract.GetAgent, context: RequestContext) -> contract.Agent:
    """One agent, as it is now or as it was in a version, and what has changed since another."""
    row = agents.find(context, asked.id)
    if asked.version is not None and asked.version != row.version:
        row = _as_then(context, row, asked.version)
    found = agents.to_resource(row)
    if asked.compare_to is None:
        return found
    before = kept_versions.find(context, asked.id, asked.compare_to, field="compare_to")
    compared = list(_differences(shown_fields(kept_versions.fields_of(before)), found))
    return found.model_copy(update={"differences": compared})


def _as_then(context: RequestContext, row: Any, version: int) -> Any:
    """An agent's row with what it said in a version. Raises `Refusal`: not_found."""
    kept = kept_versions.find(context, row.id, version, field="version")
    then = {**kept_versions.fields_of(kept), "version": kept.version, "updated_at": kept.created_at}
    return _Row(row, then)


class _Row:
    """A row of which some columns have other values."""

    def __init__(self, row: Any, values: Mapping[str, Any]) -> None:
        self._row, self._values = row, values

    def __getattr__(self, name: str) -> Any:
        return self._values[name] if name in self._values else getattr(self._row, name)


def _differences(before: Mapping[str, Any], agent: contract.Agent) -> Iterator[contract.VersionDifference]:
    """Each field that differs, the parts of a choice one by one."""
    for name in contract.Spoken.model_fields:
        old, new = dict(_leaves(name, before.get(name))), dict(_leaves(name, getattr(agent, name)))
        for leaf in dict.fromkeys((*old, *new)):
            was, is_ = old.get(leaf), new.get(leaf)
            if was == is_:
                continue
            if any(len(text) > _SHORT or "\n" in text for text in (was or "", is_ or "")):
                yield contract.VersionDifference(field=leaf, diff=differences(was or "", is_ or ""))
            else:
                yield contract.VersionDifference(field=leaf, before=was, after=is_)


def _leaves(name: str, value: Any) -> Iterator[tuple[str, str | None]]:
    if isinstance(value, BaseModel):
        for part in type(value).model_fields:
            yield from _leaves(f"{name}.{part}", getattr(value, part))
    elif value is None or isinstance(value, str):
        yield name, value
    else:
        plain = [one.model_dump(mode="json") if isinstance(one, BaseModel) else one for one in value]
        yield name, json.dumps(plain, indent=2, ensure_ascii=False)
