"""Asks a person for consent before real telephones ring or real money is spent.

A host that can ask its user (elicitation) asks; the answer never passes through the model. With other hosts the person
answers on a page of the dashboard, or the arguments of the call carry the exact sentence that says what will happen, so
that the host's own dialog shows it to the person. Each answer counts once, and for ten minutes.

Only what the sentence describes is carried out: the confirmation has arguments that bind the call to it, such as the
plan or the revisions of the resources, and it is made again after the answer. The service compares them in the
transaction that carries out the call, so that nothing can change in between, even if nobody had to be asked.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar, cast

import anyio
from mcp.server.elicitation import AcceptedElicitation, render_elicitation_schema
from mcp.server.mcpserver.context import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ElicitRequest, ElicitRequestFormParams, ElicitResult, InputRequiredResult
from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from callwright.contract.declaration.model import Input
from callwright.tools.confirmation.asked_at import ANSWER_TIMEOUT_S, AskedAt, moment_of
from callwright.tools.confirmation.without_elicitation import NOTHING, agreed
from callwright.tools.runtime.confirmation import LONGEST_QUESTION, Confirmation, ConfirmationOf
from callwright.tools.runtime.tool_context import Clock, ToolContext
from callwright.tools.wording.cleaning import cleaned

_QUESTION = "agreement"
_REVISIONS = "expected_revisions"
_TOO_LATE = f"The person has not answered within {ANSWER_TIMEOUT_S / 60:.0f} minutes. {NOTHING} Call again to ask anew."
_DIFFERENT = f"The person did not agree. {NOTHING} Ask them what should be different; do not try the same again."

In = TypeVar("In", bound=Input)


class Agreement(BaseModel):
    """What the person is asked."""

    agree: bool = Field(title="Yes, do this", strict=True)


class _CarriedQuestion(BaseModel):
    """The state that a client returns, sealed, with the answer: what was asked, and when."""

    about: str
    bound: dict[str, Any]
    at: AskedAt
    key: str
    """The idempotency key of the call that follows the answer. One answer has one key: if it is sent again, it gets the
    first result again, and nothing is done twice.
    """


async def confirmed(
    request: Context[Any, Any], confirmation_of: ConfirmationOf, context: ToolContext, asked: In, tool: str
) -> tuple[In, ToolContext] | InputRequiredResult:
    """The arguments and the context to run the tool with, after a person has agreed if one has to. In the newer
    protocol, first the question.

    Raises:
        ToolError: they did not agree, could not be asked yet, or something changed meanwhile; the text says what to do.
            Nothing was done.
        CallwrightError: the service refuses the call that was to be confirmed, for example because the plan is stale.
    """
    before = _carried(request)
    if before is not None and not before.at.is_valid_at(_now(context)):
        raise ToolError(_TOO_LATE)
    confirmation = await confirmation_of(context, _with_pinned(asked, before.bound if before is not None else {}))
    if before is not None:
        same_words = confirmation is not None and before.about == _fingerprint(asked, confirmation.question)
        if confirmation is None or not same_words or before.bound != confirmation.pinned:
            raise _changed(confirmation, tool, before.bound if same_words else None)
        _check_answer(request)
        return _with_pinned(asked, before.bound), _with_answer_key(context, before, tool)
    if confirmation is None:
        return asked, context
    pinned = _with_pinned(asked, confirmation.pinned)
    if confirmation.question is None:
        return pinned, context
    if len(confirmation.question) > LONGEST_QUESTION:
        raise ToolError(
            f"A person has to agree to this, and {len(confirmation.question)} characters do not fit into one question. "
            f"{NOTHING} Do it in smaller steps; where many long names make it so long, give shorter ones."
        )
    if not _can_ask(request):
        held = json.dumps(confirmation.pinned, sort_keys=True)
        about = f"{tool} {_fingerprint(asked, confirmation.question)} {held}"
        given: str | None = getattr(asked, "person_agreed_to", None)
        return pinned, await agreed(context, confirmation, tool=tool, about=about, given=given)
    if _answers_by_a_call(request):
        state = _CarriedQuestion(
            about=_fingerprint(asked, confirmation.question),
            bound=dict(confirmation.pinned),
            at=_now(context),
            key=context.key or context.session.ids(),
        )
        return InputRequiredResult(
            input_requests={_QUESTION: _request(confirmation.question)}, request_state=state.model_dump_json()
        )
    asked_at = _now(context)
    await _ask(request, confirmation.question, context.session.clock)
    if not asked_at.is_valid_at(_now(context)):
        raise ToolError(_TOO_LATE)
    again = await confirmation_of(context, pinned)
    same_words = again is not None and again.question == confirmation.question
    if again is None or not same_words or again.pinned != confirmation.pinned:
        raise _changed(again, tool, confirmation.pinned if same_words else None)
    return pinned, context


def _now(context: ToolContext) -> AskedAt:
    return moment_of(context.session.clock, context.session.process)


def _with_answer_key(context: ToolContext, before: _CarriedQuestion, tool: str) -> ToolContext:
    """The context after an answer, with the key of its question. Calls that take no key run for the first answer only,
    because the service would do them again.
    """
    if not context.key and not context.session.used_answers.take(
        before.key, monotonic_s=context.session.clock.monotonic()
    ):
        raise ToolError(
            f"This yes has been used already, and each counts once: nothing more was done. Call {tool} again to ask "
            "the person anew."
        )
    return replace(context, key=before.key)


def _with_pinned(asked: In, bound: Mapping[str, Any]) -> In:
    kinds: dict[str, Any] = {name: type(asked).model_fields[name].annotation for name in bound}
    return asked.model_copy(
        update={name: TypeAdapter(kinds[name]).validate_python(value) for name, value in bound.items()}
    )


def _fingerprint(asked: Input, question: str | None) -> str:
    """A hash of the question and the arguments it was about, after names were replaced by ids."""
    words = f"{asked.model_dump_json(exclude={'person_agreed_to'})}\n{question}"
    return hashlib.sha256(words.encode()).hexdigest()


def _carried(request: Context[Any, Any]) -> _CarriedQuestion | None:
    """The state that the client returned. The protocol server has checked its seal, and that it belongs to this call of
    this tool by the same principal.
    """
    if request.request_state is None:
        return None
    try:
        return _CarriedQuestion.model_validate_json(request.request_state)
    except ValidationError:
        return None  # from an older version of the server: the person is asked again


def _check_answer(request: Context[Any, Any]) -> None:
    answer = (request.input_responses or {}).get(_QUESTION)
    if isinstance(answer, ElicitResult) and answer.action == "accept":
        try:
            if Agreement.model_validate(answer.content).agree:
                return
        except ValidationError:
            pass
    raise ToolError(_DIFFERENT)


async def _ask(request: Context[Any, Any], question: str, clock: Clock) -> None:
    """Asks over the connection and waits. Raises ToolError unless the person agrees in time."""
    answered = agrees = False

    async def give_up() -> None:
        await clock.sleep(ANSWER_TIMEOUT_S)
        tasks.cancel_scope.cancel()

    failure: Exception | None = None
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(give_up)
        try:
            found = await request.elicit(question, Agreement)
            answered, agrees = True, isinstance(found, AcceptedElicitation) and found.data.agree
        except ValueError:
            answered = True  # accepted without the answer that was asked for
        except Exception as error:  # raised below, where no task group wraps it
            failure = error
        tasks.cancel_scope.cancel()
    if failure is not None:
        raise failure
    if not answered:
        raise ToolError(_TOO_LATE)
    if not agrees:
        raise ToolError(_DIFFERENT)


def _request(question: str) -> ElicitRequest:
    schema = render_elicitation_schema(Agreement)
    return ElicitRequest(params=ElicitRequestFormParams(message=question, requested_schema=schema))


def _changed(confirmation: Confirmation | None, tool: str, before: Mapping[str, Any] | None) -> ToolError:
    """The error for a change meanwhile. `before` has the bound arguments, if the words are the same as before."""
    now = (
        f" Now it would be: «{cleaned(confirmation.sentence)}»"
        if confirmation is not None and confirmation.sentence
        else ""
    )
    if confirmation is not None and before is not None:
        now = (
            f" It reads the same, but another one by now is {', '.join(_changed_values(before, confirmation.pinned))}."
        )
    return ToolError(
        f"This has changed while the person was asked, so their yes is not used: nothing was done.{now} Look how "
        f"things stand, tell the person, and call {tool} again to ask them anew."
    )


def _changed_values(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """The bound values that have changed: resources by their ids, others by the name of the argument."""
    things = [{**bound, **cast("dict[str, Any]", bound.get(_REVISIONS, {}))} for bound in (before, now)]
    names = sorted({*things[0], *things[1]} - {_REVISIONS})
    return [name for name in names if things[0].get(name) != things[1].get(name)]


def _answers_by_a_call(request: Context[Any, Any]) -> bool:
    """Whether answers come with a second call of the tool, as in the newer protocol."""
    return request.request_context.protocol_version >= "2026-07-28"


def _can_ask(request: Context[Any, Any]) -> bool:
    """Whether the client can show forms to its user, and can be reached now."""
    declared = request.client_capabilities
    form = declared.elicitation if declared is not None else None
    if form is None or (form.form is None and form.url is not None):
        return False
    return _answers_by_a_call(request) or request.session.can_send_request
