"""What is kept of a call that came in, beside what every call has: who decided what, and how it stands on the lines."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from typing import Any, cast

import orjson
from pydantic import TypeAdapter

from callwright.service.inbound.decision import RoutedBy
from callwright.service.tables.inbound_calls import REQUEST
from callwright.service.telephony.answering import AnsweringAction
from callwright.service.telephony.engine import CallRequest


@dataclass(frozen=True)
class InboundDetails:
    """How a caller was routed. Moments are by the clock of the deployment."""

    routed_by: RoutedBy
    action: AnsweringAction
    reason: str | None = None
    waited_s: float = 0.0
    metadata: Mapping[str, str] = field(default_factory=dict[str, str])
    line_until_ms: int | None = None
    """Until when the call has a line of the deployment; None if it never has one."""
    waits_until_ms: int | None = None
    """Until when the caller waits; None if they do not."""

    @classmethod
    def read(cls, text: str) -> "InboundDetails":
        """The details as they are stored."""
        kept = cast("dict[str, Any]", orjson.loads(text))
        return cls(**{name: value for name, value in kept.items() if name != REQUEST})


@cache
def _requests() -> TypeAdapter[CallRequest]:
    return TypeAdapter(CallRequest)


def stored(details: InboundDetails, request: CallRequest | None) -> str:
    """The details as they are stored, with the request of a call that lasts: another process may go on with it."""
    kept = asdict(details)
    if request is not None:
        kept[REQUEST] = _requests().dump_python(request, mode="json")
    return orjson.dumps(kept).decode()


def request_in(text: str) -> CallRequest:
    """The request of a call that is under way."""
    return _requests().validate_python(orjson.loads(text)[REQUEST])
