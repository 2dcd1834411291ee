"""Call tools as functions of a model."""

# Pipecat passes keywords on without their types.
# pyright: reportUnknownMemberType=false

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from pipecat.adapters.llm.schemas.function_schema import FunctionSchema
from pipecat.adapters.llm.schemas.tools_schema import ToolsSchema
from pipecat.frames.frames import FunctionCallResultProperties
from pipecat.services.llm_service import FunctionCallParams

from callwright.contract.checks.argument_schemas import properties_of, required_of
from callwright.service.telephony.media.speech.openai_services import Thinking
from callwright.service.telephony.media.speech.tool_arguments import NO_OBJECT
from callwright.service.telephony.media.tools.call_schemas import described, schema_of
from callwright.service.telephony.media.tools.call_tools import CallTools
from callwright.service.telephony.media.tools.results import Then, ToolResult

_GAVE_UP = "The model called tools again and again without an answer."


@dataclass
class _Group:
    """The tools that one answer of a model calls."""

    running: int
    has_answer: bool = False
    gives_up: bool = False


class _CalledTogether:
    """What follows when tools that were called together have all answered: one thing, and once.

    Pipecat's own count asks the model too early, and again, when a tool has answered before the next one has begun.
    """

    def __init__(self) -> None:
        self._groups: dict[str, _Group] = {}

    def begin(self, ids: Sequence[str]) -> None:
        """An answer calls these."""
        group = _Group(len(ids))
        self._groups |= dict.fromkeys(ids, group)

    def then(self, call_id: str, result: ToolResult) -> Then:
        """What follows this result: the model listens until the last of them is here."""
        group = self._groups.pop(call_id)
        group.running -= 1
        group.has_answer |= result.then == "answer"
        group.gives_up |= result.then == "give_up"
        if group.running:
            return "listen"
        if group.has_answer:
            return "answer"
        return "give_up" if group.gives_up else "listen"


def offered(tools: CallTools) -> ToolsSchema:
    """What a model is told of the tools."""
    return ToolsSchema(
        standard_tools=[
            FunctionSchema(
                name=tool.name,
                description=described(tool, tools.today()),
                properties=dict(properties_of(schema_of(tool))),
                required=list(required_of(schema_of(tool))),
            )
            for tool in tools.all
        ]
    )


def connect(model: Thinking, tools: CallTools, gave_up: Callable[[str], Awaitable[None]]) -> None:
    """Has a model call these tools. A call goes on when the contact interrupts, and the model gets its result.

    `gave_up` is told, in a sentence, when the model calls tools without end.
    """

    together = _CalledTogether()

    async def use(params: FunctionCallParams) -> None:
        given = dict(params.arguments)
        arguments = given[NO_OBJECT] if given.keys() == {NO_OBJECT} else given
        result = await tools.use(params.function_name, arguments, "llm")
        then = together.then(params.tool_call_id, result)
        told = {"result" if result.ok else "error": result.text}
        asks_again = then == "answer" and not tools.hold_contact
        await params.result_callback(told, properties=FunctionCallResultProperties(run_llm=asks_again))
        if then == "give_up":
            await gave_up(_GAVE_UP)

    model.calls_begin = together.begin
    model.register_function(None, use, cancel_on_interruption=False)
