"""Call tools as functions of a model."""

# Pipecat passes keywords on without their types.
# pyright: reportUnknownMemberType=false

from collections.abc import Awaitable, Callable

from pipecat.adapters.llm.schemas.function_schema import FunctionSchema
from pipecat.adapters.llm.schemas.tools_schema import ToolsSchema
from pipecat.frames.frames import FunctionCallResultProperties
from pipecat.services.llm_service import FunctionCallParams

from callwright.contract.checks.argument_schemas import properties_of, required_of
from callwright.service.telephony.media.speech.openai_services import Thinking
from callwright.service.telephony.media.speech.tool_arguments import NO_OBJECT
from callwright.service.telephony.media.tools.call_schemas import described, schema_of
from callwright.service.telephony.media.tools.call_tools import CallTools

_GAVE_UP = "The model called tools again and again without an answer."


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

    async def use(params: FunctionCallParams) -> None:
        given = dict(params.arguments)
        arguments = given[NO_OBJECT] if given.keys() == {NO_OBJECT} else given
        result = await tools.use(params.function_name, arguments, "llm")
        answers = result.then == "answer"
        told = {"result" if result.ok else "error": result.text}
        await params.result_callback(told, properties=FunctionCallResultProperties(run_llm=None if answers else False))
        if result.then == "give_up":
            await gave_up(_GAVE_UP)

    model.calls_begin = tools.answer_begins
    model.register_function(None, use, cancel_on_interruption=False)
