"""The tools of one call: whoever answers, a model or the rules, calls them here.

Each call of a tool is bounded in time and in number, and stands in the transcript with what was asked and answered.
What it answers comes from outside: it is data, for a model and for whoever reads the transcript.
"""

import json
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from ipaddress import ip_network
from typing import Protocol, cast

import anyio
from anyio.abc import TaskGroup
from pydantic import JsonValue

from callwright.contract.agents.call_tools import (
    CallBackTool,
    CallTool,
    EndCallTool,
    HttpTool,
    PressKeysTool,
    TransferTool,
)
from callwright.contract.checks.address_ranges import Network
from callwright.contract.checks.argument_schemas import problems_of
from callwright.service.platform.outgoing.names import Names
from callwright.service.rules.call_tools import tools_in
from callwright.service.rules.templates import render
from callwright.service.telephony.engine import CallRequest, ToolCall, Turn, TurnSource
from callwright.service.telephony.media.messages import ToolAccess
from callwright.service.telephony.media.sound.sound_clock import SoundClock
from callwright.service.telephony.media.tools.call_schemas import schema_of
from callwright.service.telephony.media.tools.http_answers import asked
from callwright.service.telephony.media.tools.http_request import UnfitArgument, request_of
from callwright.service.telephony.media.tools.moments import NoMoment, moment_of
from callwright.service.telephony.media.tools.results import NOT_KNOWN, ToolResult, failed
from callwright.service.telephony.media.transfers.handover import Handover
from callwright.service.telephony.media.turns.transcript import Transcript
from callwright.service.telephony.transfers import result_of

MOST_A_TURN, MOST_A_CALL = 5, 40
"""Calls of tools in answer to one turn of the contact, and in a whole call."""
MEANWHILE_S = 1.0
"""After this time the contact hears that something is looked up."""
_LONGEST_ARGUMENTS = 4_000
_TOO_MANY = "Too many tools were called in a row. Answer with what you have."
_CALLED_BACK = "It is noted, and the call is made then or when calling hours allow it. Say so, and take your leave."
_NOTED = "It is noted for the team, and no call is made by itself. Say that, promise no call, and take your leave."
_ENDED = "The call ended before there was an answer."
"""What came of a request of which nobody has heard any more."""
_NOT_KEPT = "It could not be noted, so nothing was sent. Say that it did not work, and go on without it."


class Line(Protocol):
    """What tools do on the line."""

    @property
    def speaks(self) -> bool:
        """Whether the agent is saying something."""
        ...

    async def say_meanwhile(self, sentence: str) -> None:
        """Says a sentence while a tool works; without words of its own a phrase of the language."""
        ...

    async def say_goodbye(self, sentence: str) -> None:
        """Says the last sentence and ends the call; without words of its own a goodbye of the language."""
        ...

    async def press(self, keys: str) -> None:
        """Presses keys of the telephone."""
        ...

    def call_back_at(self, moment: datetime) -> None:
        """The contact is to be called at that moment."""
        ...


class Keep(Protocol):
    """Has the host keep that a tool is used."""

    async def kept(self, turn: Turn) -> bool:
        """Whether the host has kept this turn."""
        ...


@dataclass
class _Use:
    """One use of a tool, as the transcript has it. Times are seconds after the answer."""

    name: str
    arguments: str
    source: TurnSource
    begun: float
    start_s: float
    index: int | None = None
    """Its number in the transcript, once it is reported."""


class CallTools:
    """The tools of one call. `wall` gives the time of day in seconds, `now` a monotonic time."""

    def __init__(
        self,
        request: CallRequest,
        access: ToolAccess,
        line: Line,
        handover: Handover,
        keep: Keep,
        *,
        transcript: Transcript,
        clock: SoundClock,
        now: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._request, self._access, self._line, self._handover = request, access, line, handover
        self._keep = keep
        self._transcript, self._clock, self._now, self._wall = transcript, clock, now, wall
        self._tools = {tool.name: tool for tool in tools_in(request.agent.call_tools)}
        self._opened: Sequence[Network] = [ip_network(text) for text in access.opened]
        self._names = Names()
        self._running = self._in_turn = self._in_call = 0
        self._tasks: TaskGroup | None = None
        self._runs: Mapping[type[CallTool], Callable[..., Awaitable[ToolResult]]] = {
            EndCallTool: self._end_call,
            PressKeysTool: self._press_keys,
            CallBackTool: self._call_back,
            TransferTool: self._transfer,
        }

    @property
    def all(self) -> Sequence[CallTool]:
        """The tools."""
        return tuple(self._tools.values())

    @property
    def hold_contact(self) -> bool:
        """Whether nothing is answered, because the contact waits for a person."""
        return self._handover.holds_contact

    @property
    def are_running(self) -> bool:
        """Whether one is at work."""
        return self._running > 0

    def today(self) -> datetime:
        """The time of day, in UTC."""
        return datetime.fromtimestamp(self._wall(), UTC)

    def runs_in(self, tasks: TaskGroup) -> None:
        """The call has begun: what is done later is done in these tasks, which end with it."""
        self._tasks = tasks

    def later(self, work: Callable[[], Awaitable[None]]) -> None:
        """Does something beside what the call does now. From now on a tool counts as running."""
        if self._tasks is not None:
            self._running += 1
            self._tasks.start_soon(self._work, work)

    async def _work(self, work: Callable[[], Awaitable[None]]) -> None:
        try:
            await work()
        finally:
            self._running -= 1

    def turn_begins(self) -> None:
        """The contact has said something new."""
        self._in_turn = 0

    async def use(self, name: str, arguments: JsonValue, source: TurnSource) -> ToolResult:
        """Calls a tool, and notes that in the transcript. It raises nothing for what a tool does."""
        shown = json.dumps(arguments, ensure_ascii=False)[:_LONGEST_ARGUMENTS]
        use = _Use(name[:100], shown, source, self._now(), self._clock.now_s())
        result = failed(_ENDED)
        self._running += 1
        try:
            result = await self._bounded(use, name, arguments)
        finally:
            self._running -= 1
            self._transcript.tool_called(self._turn(use, result))
        return result

    def _turn(self, use: _Use, result: ToolResult) -> Turn:
        """The use of a tool, with what has come of it."""
        called = ToolCall(
            name=use.name,
            arguments=use.arguments,
            result=result.text,
            ok=result.ok,
            latency_ms=round((self._now() - use.begun) * 1_000),
        )
        times = {"start_s": use.start_s, "end_s": self._clock.now_s()}
        turn = self._transcript.tool_turn(called, **times, source=use.source, index=use.index)
        use.index = turn.index
        return turn

    async def _bounded(self, use: _Use, name: str, arguments: JsonValue) -> ToolResult:
        self._in_turn += 1
        self._in_call += 1
        if self._in_turn > MOST_A_TURN or self._in_call > MOST_A_CALL:
            return failed(_TOO_MANY, then="give_up")
        tool = self._tools.get(name)
        if tool is None:
            return failed(f"There is no tool {name[:100]}; there are {', '.join(self._tools)}.")
        problems = problems_of(arguments, schema_of(tool))
        if problems:
            return failed(
                f"The arguments do not fit, and nothing was done: {' '.join(problems)} Call again with others."
            )
        given = cast("dict[str, JsonValue]", arguments)
        if isinstance(tool, HttpTool):
            return await self._ask(tool, given, use)
        return await self._runs[type(tool)](tool, given)

    async def _ask(self, tool: HttpTool, arguments: Mapping[str, JsonValue], use: _Use) -> ToolResult:
        secrets = self._access.secrets.get(tool.name, {})
        missing = [header for header in tool.secret_headers if header not in secrets]
        if missing:
            return failed(f"The tool is not ready: its secret header {missing[0]} is not set. Go on without it.")
        try:
            request = request_of(tool, arguments, self._request.variables, secrets)
        except UnfitArgument as error:
            return failed(str(error))
        result = failed(_ENDED)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._speak_meanwhile, tool.meanwhile)
            if await self._keep.kept(self._turn(use, failed(NOT_KNOWN))):
                result = await asked(request, within_s=tool.timeout_seconds, opened=self._opened, names=self._names)
            else:
                result = failed(_NOT_KEPT)
            tasks.cancel_scope.cancel()
        return result

    async def _speak_meanwhile(self, sentence: str) -> None:
        await anyio.sleep(MEANWHILE_S)
        if not self._line.speaks:
            with anyio.CancelScope(shield=True):  # a sentence that has begun is handed over whole
                await self._line.say_meanwhile(self._spoken(sentence))

    async def _end_call(self, tool: EndCallTool, arguments: Mapping[str, JsonValue]) -> ToolResult:
        own = str(arguments.get("sentence") or "")
        await self._line.say_goodbye(own or self._spoken(tool.sentence))
        return ToolResult(ok=True, text="The call ends.", then="listen")

    async def _press_keys(self, tool: PressKeysTool, arguments: Mapping[str, JsonValue]) -> ToolResult:
        keys = tool.keys or str(arguments["keys"])
        if not keys or keys.strip("0123456789*#"):
            return failed("keys may be digits, * and #. Call again with those.")
        await self._line.press(keys)
        return ToolResult(ok=True, text=f"Pressed {keys}.", then="listen")

    async def _call_back(self, tool: CallBackTool, arguments: Mapping[str, JsonValue]) -> ToolResult:
        zone = arguments.get("time_zone") or tool.time_zone
        try:
            moment = moment_of(arguments["when"], zone, now=self.today())
        except NoMoment as error:
            return failed(str(error))
        self._line.call_back_at(moment)
        return ToolResult(ok=True, text=_CALLED_BACK if self._request.may_call_back else _NOTED)

    async def _transfer(self, tool: TransferTool, arguments: Mapping[str, JsonValue]) -> ToolResult:
        if self._handover.is_under_way:
            return failed("A transfer is under way. Wait for what comes of it.")
        if not self._handover.may_try:
            return failed("It was tried often enough. Say that a colleague calls back, and go on.")
        cause = await self._handover.to(str(arguments["destination"]), str(arguments.get("summary") or ""))
        return ToolResult(ok=True, text=result_of(None), then="listen") if cause is None else failed(result_of(cause))

    def _spoken(self, sentence: str) -> str:
        return render(sentence, self._request.variables).text
