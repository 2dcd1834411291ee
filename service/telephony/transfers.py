"""Transfers of a call to a person, as call engines know them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from callwright.contract.agents.call_tools import TransferTool
from callwright.contract.transfers import TransferCause, TransferKind, TransferStatus
from callwright.service.rules.call_tools import tools_in
from callwright.service.rules.templates import render
from callwright.service.rules.transfer_destinations import is_allowed


@dataclass(frozen=True)
class Destination:
    """A person to whom an agent may transfer its calls."""

    name: str
    to: str | None
    """E.164; None where the simulated network is told to transfer and the agent has no destination."""
    kind: TransferKind = "warm"
    ring_timeout_s: float = 30.0
    summary: str = ""
    """What the person hears first."""
    say_before: str = ""
    confirm_key: str | None = None
    """Pressed by the person who takes the call."""
    countries: tuple[str, ...] = ()
    """Countries that may be called beside that of the caller's number."""

    def may_be_called(self, from_number: str) -> bool:
        """Whether the number may be called, from the number of this call."""
        return self.to is None or is_allowed(self.to, from_number=from_number, countries=self.countries)


NOBODY_SET = Destination("", None)
"""Where a simulated call goes that is told to be transferred, if its agent has no destination."""


def destinations_in(call_tools: str | None, variables: Mapping[str, str]) -> Sequence[Destination]:
    """Whom an agent with these tools may transfer a call to, its sentences filled for this contact."""
    return tuple(
        Destination(
            name=one.name,
            to=one.to,
            kind=one.kind,
            ring_timeout_s=float(one.ring_timeout_seconds),
            summary=render(one.summary, variables).text,
            say_before=render(one.say_before, variables).text,
            confirm_key=one.confirm_key,
            countries=tuple(tool.countries),
        )
        for tool in tools_in(call_tools)
        if isinstance(tool, TransferTool)
        for one in tool.destinations
    )


_RESULTS: Mapping[TransferCause | None, str] = {
    None: "The person has taken over, and your part of the call is over.",
    "busy": "The line is busy.",
    "no_answer": "Nobody answered.",
    "rejected": "The call was declined.",
    "unreachable": "The number cannot be reached.",
    "hung_up": "The person hung up without taking the call.",
    "not_allowed": "The number may not be called.",
    "not_possible": "This call is on no line that can be transferred.",
    "carrier_error": "The carrier did not transfer the call.",
}


def result_of(cause: TransferCause | None) -> str:
    """What an agent is told of a transfer that failed for this cause, or of one that is done."""
    return _RESULTS[cause] if cause is None else f"{_RESULTS[cause]} The caller is with you again: say so, and go on."


@dataclass(frozen=True, kw_only=True)
class CallTransfer:
    """A try to transfer a call, and what has come of it by now. Times are seconds after the call was answered."""

    kind: TransferKind
    to: str | None
    name: str = ""
    status: TransferStatus = "ringing"
    cause: TransferCause | None = None
    """Why it failed."""
    started_s: float
    at_s: float
    """When it reached its status."""

    @property
    def is_bridged(self) -> bool:
        """Whether the person has taken over."""
        return self.status == "bridged"

    @property
    def is_over(self) -> bool:
        """Whether its status is the last one."""
        return self.status in ("bridged", "failed")

    def given_up(self) -> "CallTransfer":
        """The same when the process that carried the call is gone, before anybody was known to take over. A contact who
        was given away in a cold transfer may be with the person: nobody hears of it any more."""
        return replace(self, status="failed", cause="carrier_error" if self.kind == "cold" else "hung_up")
