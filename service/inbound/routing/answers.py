"""What a routing webhook answers, and what of it can be used."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import orjson
from pydantic import BaseModel, ConfigDict, Field, StrictStr, ValidationError

from callwright.contract.agents.agents import SystemPrompt, WelcomeMessage
from callwright.contract.declaration.field_types import LanguageTag, Metadata, PlainText
from callwright.contract.inbound_routing import RoutingAction
from callwright.service.platform.outgoing.posted import Posted
from callwright.service.platform.phone import Dialable, read_number
from callwright.service.telephony.answering import RejectReason

MOST_VARIABLES = 100
_Name = Annotated[StrictStr, Field(min_length=1, max_length=100), PlainText]
_Value = Annotated[StrictStr, Field(max_length=2_000), PlainText]
_Id = Annotated[StrictStr, Field(min_length=1, max_length=60), PlainText]
_MOST_OF_FIELD = 60


@dataclass(frozen=True)
class Overrides:
    """What the agent says otherwise than it usually does, on this call. None: as usual."""

    welcome_message: str | None = None
    language: str | None = None
    voice_id: str | None = None
    system_prompt: str | None = None

    def named(self) -> Mapping[str, str]:
        """Those that there are, by their names."""
        return {name: text for name, text in vars(self).items() if text is not None}


@dataclass(frozen=True)
class RoutingAnswer:
    """A usable answer. Without an `agent_id` the agent of the bound deployment answers."""

    action: RoutingAction = "answer"
    agent_id: str | None = None
    variables: Mapping[str, str] = field(default_factory=dict[str, str])
    metadata: Mapping[str, str] = field(default_factory=dict[str, str])
    overrides: Overrides = Overrides()
    transfer_to: str | None = None
    """In E.164; given if the action is `transfer`."""
    reject_reason: RejectReason | None = None
    """Given if the action is `reject`."""


class _Lenient(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class _Overrides(_Lenient):
    welcome_message: WelcomeMessage | None = None
    language: LanguageTag | None = None
    voice_id: _Id | None = None
    system_prompt: SystemPrompt | None = None


class _Answer(_Lenient):
    """What an endpoint answers. Further members are ignored, and null is the same as nothing."""

    action: RoutingAction | None = None
    agent_id: _Id | None = None
    variables: Annotated[dict[_Name, _Value], Field(max_length=MOST_VARIABLES)] | None = None
    metadata: Metadata | None = None
    overrides: _Overrides | None = None
    transfer_to: Annotated[StrictStr, Field(max_length=40)] | None = None
    reject_reason: Literal["busy", "blocked", "closed"] | None = None


def read(posted: Posted, to: str) -> RoutingAnswer | str:
    """The answer to a question about a call to the number `to`; a sentence that says why it cannot be used.

    The request has succeeded. No body, and `{}`, mean that the bound deployment answers.
    """
    if not posted.body.strip():
        return RoutingAnswer()
    try:
        said = orjson.loads(posted.body)
    except orjson.JSONDecodeError:
        return "The answer is not JSON."
    if not isinstance(said, dict):
        return "The answer is not a JSON object."
    try:
        return _usable(_Answer.model_validate(said), to)
    except ValidationError as error:
        first: Any = error.errors(include_url=False, include_context=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        return f"The answer's {_known(place)} cannot be used: {first['msg'].removeprefix('Value error, ')}."


def _usable(said: _Answer, to: str) -> RoutingAnswer | str:
    action, transfer_to = said.action or "answer", None
    if action == "transfer":
        if said.transfer_to is None:
            return "The answer's action is transfer, and transfer_to is missing."
        number = read_number(said.transfer_to)
        if not said.transfer_to.startswith("+") or not isinstance(number, Dialable):
            return "The answer's transfer_to is no number in E.164 that can be called."
        if number.e164 == to:
            return "The answer's transfer_to is the number that was called."
        transfer_to = number.e164
    return RoutingAnswer(
        action=action,
        agent_id=said.agent_id,
        variables=said.variables or {},
        metadata=said.metadata or {},
        overrides=Overrides(**(said.overrides.model_dump() if said.overrides else {})),
        transfer_to=transfer_to,
        reject_reason=(said.reject_reason or "busy") if action == "reject" else None,
    )


def _known(place: str) -> str:
    """The place of a member without what the endpoint itself named, such as a variable."""
    name, _, rest = place.partition(".")
    return name if name in ("variables", "metadata") else (f"{name}.{rest}" if rest else name)[:_MOST_OF_FIELD]
