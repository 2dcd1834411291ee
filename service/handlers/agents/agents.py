"""Agents."""

from typing import Any

from sqlalchemy import bindparam, delete, select, update

from callwright.contract.agents import agents as contract
from callwright.contract.declaration.pagination import Page
from callwright.contract.problems import AGENT_IN_USE
from callwright.contract.providers import Role
from callwright.service.dialling.agent_snapshot import shown_fields
from callwright.service.handlers import revisions
from callwright.service.handlers.agents import kept_versions
from callwright.service.handlers.changes import check_name_free, check_not_in_use, given, name_taken
from callwright.service.handlers.request_context import RequestContext, handles
from callwright.service.handlers.resources import resource
from callwright.service.platform.database.inserts import PreparedInsert
from callwright.service.platform.database.listing import Listing
from callwright.service.platform.database.prepared import Prepared
from callwright.service.platform.json_text import json_text
from callwright.service.platform.refusals import invalid, not_found
from callwright.service.rules.call_tools import columns_in, tools_in
from callwright.service.rules.provider_choice import CHOICE, choice_of, model_columns, speech_columns
from callwright.service.rules.templates import spoken_braces, variables_in
from callwright.service.speech.voices import voice
from callwright.service.tables import call_tool_secrets
from callwright.service.tables import providers as provider_rows
from callwright.service.tables.schema import agents, deployments
from callwright.service.telephony.simulated.conversation.phrases import LANGUAGES, bank_of, other_language

_WITHOUT_PHRASES = (
    "on the simulated network the agent cannot hold a conversation in {language}: it says the welcome message and the "
    "questions of the prompt, tells no fact before it is asked, may take an instruction for a question or a fact, and "
    "speaks English between them; languages with rules of their own: {known}"
)
_WRITTEN_OTHERWISE = (
    "system_prompt seems to be in {written}, and the agent speaks {language}: on the simulated network its questions "
    "and facts are found by the rules of the agent's language, and may be missed or said in the other one"
)
_NO_SECRET = (
    "the secret header {header} of the tool {tool} is not set for its address: its calls fail until "
    "`callwright agents secret` sets it"
)
_C = agents.c
_BY_ID = select(agents).where(_C.id == bindparam("id"), _C.org_id == bindparam("org"))
_FIND, _LOCK = Prepared(_BY_ID), Prepared(_BY_ID.with_for_update())
_NAMED = Prepared(select(_C.id).where(_C.org_id == bindparam("org"), _C.name == bindparam("name")))
_ADD = PreparedInsert(agents, (_C.org_id, _C.name))
"""Returns no row if the name is taken. A look-up first would cost a statement, and two requests could still collide."""
_LIST = Listing(
    contract.list_agents,
    select(agents),
    {name: _C[name] for name in ("name", "language", "voice_id", "created_at", "updated_at")},
    _C.id,
)


def find(context: RequestContext, agent_id: str, *, field: str | None = None, lock: bool = False) -> Any:
    """The agent's row; with `lock` nobody deletes it before this unit of work ends. Raises `Refusal`: not_found."""
    row = (_LOCK if lock else _FIND).first(context.connection, {"id": agent_id, "org": context.org_id})
    if row is None:
        raise not_found(field)
    return row


def to_resource(row: Any) -> contract.Agent:
    """An agent as callers see it."""
    spoken = voice(row.voice_id)
    warnings: list[str] = []
    if spoken is not None and spoken.language.split("-")[0].lower() != row.language.split("-")[0].lower():
        warnings.append(f"the voice speaks {spoken.language}, the agent {row.language}")
    bank = bank_of(row.language)
    if bank is None:
        warnings.append(_WITHOUT_PHRASES.format(language=row.language, known=", ".join(LANGUAGES)))
    elif (written := other_language(row.system_prompt, bank)) is not None:
        warnings.append(_WRITTEN_OTHERWISE.format(written=written, language=row.language))
    for field, text in (("welcome_message", row.welcome_message), ("system_prompt", row.system_prompt)):
        if "{" in text and (names := list(spoken_braces(text))):
            more = f", {len(names) - 1} more like it" if len(names) > 1 else ""
            spoken_so = f"the braces around {names[0]} are spoken as they are written{more}"
            warnings.append(f"{field}: {spoken_so}; {{{{{names[0]}}}}} inserts a column")
    tools = tools_in(row.call_tools)
    secrets = call_tool_secrets.shown(row.call_tool_secrets, tools)
    warnings += [_NO_SECRET.format(tool=one.tool, header=one.header) for one in secrets if not one.is_set]
    words = (*variables_in(row.welcome_message), *variables_in(row.system_prompt))
    return resource(
        contract.Agent,
        row,
        **choice_of({name: getattr(row, name) for name in CHOICE}),
        call_tools=list(tools),
        call_tool_secrets=secrets,
        variables=list(dict.fromkeys((*words, *columns_in(row.call_tools)))),
        warnings=warnings,
        revision=revisions.of_agent(row),
    )


def _check_voice(voice_id: str) -> None:
    if voice(voice_id) is None:
        raise invalid("voice_id", "is not a voice; GET /voices lists them")


def _choice(asked: contract.CreateAgent | contract.UpdateAgent, context: RequestContext) -> dict[str, str | None]:
    """The columns of the providers that an agent is to have, of those fields that are given.

    Raises:
        Refusal: invalid_field for one that there is not, or that is not used for this; it says which there are.
    """
    chosen: dict[str, str | None] = {}
    named: list[tuple[str, str, Role]] = []
    if "speech" in asked.model_fields_set:
        chosen |= speech_columns(asked.speech)
        if asked.speech is not None and asked.speech.hearing is not None:
            named.append(("speech.hearing", asked.speech.hearing, "hearing"))
        if asked.speech is not None and asked.speech.speaking is not None:
            named.append(("speech.speaking", asked.speech.speaking, "speaking"))
    if "model" in asked.model_fields_set:
        chosen |= model_columns(asked.model)
        if asked.model is not None and asked.model.provider is not None:
            named.append(("model.provider", asked.model.provider, "thinking"))
    known = provider_rows.all_of(context.connection, context.org_id, hold=True) if named else []
    for field, name, role in named:
        able = [row.name for row in known if role in provider_rows.roles_of(row)]
        if name not in able:
            there = (
                f"there are {', '.join(able)}"
                if able
                else "there is none; an owner sets one with `callwright providers set`"
            )
            raise invalid(field, f"is no provider for {role}: {there}")
    return chosen


@handles(contract.list_agents)
def list_agents(asked: contract.ListAgents, context: RequestContext) -> Page[contract.Agent]:
    """A page of agents."""
    listing = Listing(_LIST.operation, _LIST.rows.where(_C.org_id == context.org_id), _LIST.columns, _LIST.unique)
    return context.page(listing, asked, to_resource)


@handles(contract.create_agent, brief=True)
def create_agent(asked: contract.CreateAgent, context: RequestContext) -> contract.Agent:
    """A new agent."""
    _check_voice(asked.voice_id)
    row = {
        **asked.model_dump(exclude={"metadata", "speech", "model"}),
        **dict.fromkeys((*CHOICE, "call_tools")),
        **_choice(asked, context),
        **context.new_row("agt"),
        "metadata": json_text(asked.metadata),
    }
    made = _ADD.first(context.connection, row)
    if made is None:
        raise name_taken()
    kept_versions.add_first(context, row)
    return to_resource(made)


@handles(contract.update_agent, brief=True)
def update_agent(asked: contract.UpdateAgent, context: RequestContext) -> contract.Agent:
    """A changed agent. If what it says or how has changed, it has a further version."""
    row = find(context, asked.id, lock=True)
    restored: dict[str, Any] = {}
    if asked.restore_version is not None:
        asked, restored = _with_words_of(asked.restore_version, asked, context)
    changes = {name: value for name, value in given(asked).items() if name not in _NO_COLUMNS} | restored
    changes |= _choice(asked, context)
    if "voice_id" in changes:
        _check_voice(changes["voice_id"])
    if "name" in changes:
        check_name_free(context, _NAMED, changes["name"], but=asked.id)
    context.connection.execute(
        update(agents)
        .where(_C.id == asked.id, _C.org_id == context.org_id)
        .values(
            **changes,
            **kept_versions.add_if_changed(context, row, changes, asked.restore_version),
            updated_at=context.now_ms,
        )
    )
    return to_resource(find(context, asked.id))


_NO_COLUMNS = ("restore_version", "speech", "model")


def _with_words_of(
    version: int, asked: contract.UpdateAgent, context: RequestContext
) -> tuple[contract.UpdateAgent, dict[str, Any]]:
    """The changes with every field of a version that they do not name, and the column that they cannot name.

    Raises `Refusal`: not_found.
    """
    kept = kept_versions.fields_of(kept_versions.find(context, asked.id, version, field="restore_version"))
    then = {
        name: value
        for name, value in shown_fields(kept).items()
        if name in contract.UpdateAgent.model_fields and name not in asked.model_fields_set
    }
    return asked.model_copy(update=then), {"call_tools": kept["call_tools"]}


@handles(contract.delete_agent, brief=True)
def delete_agent(asked: contract.DeleteAgent, context: RequestContext) -> None:
    """Removes an agent with its versions. Finished deployments keep their copy of it."""
    find(context, asked.id, lock=True)
    check_not_in_use(context, deployments.c.agent_id == asked.id, AGENT_IN_USE, "agent")
    kept_versions.remove_all(context, asked.id)
    context.connection.execute(delete(agents).where(_C.id == asked.id, _C.org_id == context.org_id))
