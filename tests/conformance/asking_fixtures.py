"""Fixtures of the conformance suite that ask the client for something, in both eras of the protocol.

Their names, texts and schemas are fixed by the suite.
"""

import json
import warnings
from typing import Any, Literal, cast

from mcp import MCPDeprecationWarning
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.context import Context
from mcp.shared.exceptions import MCPError
from mcp.types import (
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    CreateMessageRequest,
    CreateMessageRequestParams,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequest,
    InputRequiredResult,
    ListRootsRequest,
    SamplingMessage,
    TextContent,
)
from pydantic import BaseModel, Field

warnings.simplefilter("ignore", MCPDeprecationWarning)  # the suite still tests what newer protocols deprecate


class _Person(BaseModel):
    username: str = Field(description="User's response")
    email: str = Field(description="User's email address")


class _Defaults(BaseModel):
    name: str = "John Doe"
    age: int = 30
    score: float = 95.5
    status: Literal["active", "inactive", "pending"] = "active"
    verified: bool = True


def _form(message: str, **properties: Any) -> ElicitRequest:
    schema: dict[str, Any] = {"type": "object", "properties": properties, "required": list(properties)}
    return ElicitRequest(params=ElicitRequestFormParams(message=message, requested_schema=schema))


def _sample(text: str, max_tokens: int) -> CreateMessageRequest:
    message = SamplingMessage(role="user", content=TextContent(type="text", text=text))
    return CreateMessageRequest(params=CreateMessageRequestParams(messages=[message], max_tokens=max_tokens))


_VALUES = ((1, "First"), (2, "Second"))
_NAME = {"name": {"type": "string"}}
_ENUMS: dict[str, Any] = {
    "untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
    "titledSingle": {
        "type": "string",
        "oneOf": [{"const": f"value{n}", "title": f"{word} Option"} for n, word in _VALUES],
    },
    "legacyEnum": {
        "type": "string",
        "enum": ["opt1", "opt2", "opt3"],
        "enumNames": ["Option One", "Option Two", "Option Three"],
    },
    "untitledMulti": {"type": "array", "items": {"type": "string", "enum": ["option1", "option2", "option3"]}},
    "titledMulti": {
        "type": "array",
        "items": {
            "anyOf": [{"const": f"value{n}", "title": f"{word} Choice"} for n, word in ((1, "First"), (2, "Two"))]
        },
    },
}


def add_asking_tools(server: MCPServer[Any]) -> None:
    """Tools that ask an older client while they run."""

    @server.tool(structured_output=False)
    async def test_tool_with_logging(context: Context[Any, Any]) -> str:
        """Sends three log messages."""
        for said in ("Tool execution started", "Tool processing data", "Tool execution completed"):
            await context.info(said)  # pyright: ignore[reportDeprecated]
        return "done"

    @server.tool(structured_output=False)
    async def test_logging_tool(context: Context[Any, Any]) -> str:
        """Sends a log message, which a newer client gets only if it asked for it."""
        await context.info("a log message")  # pyright: ignore[reportDeprecated]
        return "done"

    @server.tool(structured_output=False)
    async def test_sampling(prompt: str, context: Context[Any, Any]) -> str:
        """Asks the client's model."""
        message = SamplingMessage(role="user", content=TextContent(type="text", text=prompt))
        found = await context.session.create_message(messages=[message], max_tokens=100)  # pyright: ignore[reportDeprecated]
        said = found.content.text if isinstance(found.content, TextContent) else ""
        return f"LLM response: {said}"

    @server.tool(structured_output=False)
    async def test_elicitation(message: str, context: Context[Any, Any]) -> str:
        """Asks the user for a name and an address."""
        return f"User response: {await context.elicit(message, _Person)}"

    @server.tool(structured_output=False)
    async def test_elicitation_sep1034_defaults(context: Context[Any, Any]) -> str:
        """Asks with defaults."""
        return f"Elicitation completed: {await context.elicit('Please check these', _Defaults)}"

    @server.tool(structured_output=False)
    async def test_elicitation_sep1330_enums(context: Context[Any, Any]) -> str:
        """Asks with choices of every kind."""
        found = await context.session.elicit_form(
            "Please choose", {"type": "object", "properties": _ENUMS}, related_request_id=context.request_id
        )
        return f"Elicitation completed: action={found.action}, content={json.dumps(found.content)}"


def add_rounds(server: MCPServer[Any]) -> None:
    """Tools and a prompt that ask a newer client by answering with a question."""

    def given(context: Context[Any, Any], name: str) -> Any:
        return (context.input_responses or {}).get(name)

    def content(context: Context[Any, Any], name: str, field: str) -> Any:
        answer = given(context, name)
        if isinstance(answer, ElicitResult) and answer.content is not None:
            return answer.content.get(field)
        return None

    def once(tool: str, key: str, question: InputRequest, *, state: str | None = None) -> None:
        async def run(context: Context[Any, Any]) -> str | InputRequiredResult:
            answer = given(context, key)
            if answer is None or (state is not None and context.request_state != state):
                return InputRequiredResult(input_requests={key: question}, request_state=state)
            return f"state-ok {answer.model_dump_json(exclude_none=True)}"

        server.add_tool(run, name=tool, description="Asks once.", structured_output=False)

    confirm = _form("Please confirm", ok={"type": "boolean"})
    once("test_input_required_result_sampling", "capital_question", _sample("What is the capital of France?", 100))
    once("test_input_required_result_list_roots", "client_roots", ListRootsRequest())
    once("test_input_required_result_request_state", "confirm", confirm, state="confirming")
    once("test_input_required_result_tampered_state", "confirm", confirm, state="confirming")
    once("test_streaming_elicitation", "confirm", confirm)

    @server.tool(structured_output=False)
    async def test_input_required_result_elicitation(context: Context[Any, Any]) -> str | InputRequiredResult:
        """Asks for a name."""
        name = content(context, "user_name", "name")
        if name is None:
            return InputRequiredResult(input_requests={"user_name": _form("What is your name?", **_NAME)})
        return f"Hello, {name}!"

    @server.tool(structured_output=False)
    async def test_input_required_result_multiple_inputs(context: Context[Any, Any]) -> str | InputRequiredResult:
        """Asks three things at once."""
        asked: dict[str, InputRequest] = {
            "user_name": _form("What is your name?", **_NAME),
            "greeting": _sample("Generate a greeting", 50),
            "client_roots": ListRootsRequest(),
        }
        if any(given(context, name) is None for name in asked) or context.request_state != "three":
            return InputRequiredResult(input_requests=asked, request_state="three")
        return "All three are here."

    @server.tool(structured_output=False)
    async def test_input_required_result_multi_round(context: Context[Any, Any]) -> str | InputRequiredResult:
        """Asks twice, one after the other."""
        if context.request_state == "second" and (colour := content(context, "step2", "color")) is not None:
            return f"Thank you; {colour} it is."
        if context.request_state == "first" and content(context, "step1", "name") is not None:
            question = _form("Step 2: What is your favorite color?", color={"type": "string"})
            return InputRequiredResult(input_requests={"step2": question}, request_state="second")
        question = _form("Step 1: What is your name?", **_NAME)
        return InputRequiredResult(input_requests={"step1": question}, request_state="first")

    @server.tool(structured_output=False)
    async def test_input_required_result_capabilities(context: Context[Any, Any]) -> str | InputRequiredResult:
        """Asks only for what the client can do."""
        can = context.client_capabilities
        asked: dict[str, InputRequest] = {}
        if can is not None and can.elicitation is not None:
            asked["user_name"] = _form("What is your name?", **_NAME)
        if can is not None and can.sampling is not None:
            asked["greeting"] = _sample("Generate a greeting", 50)
        missing = {key: question for key, question in asked.items() if given(context, key) is None}
        return InputRequiredResult(input_requests=missing) if missing else "Nothing is missing."

    @server.tool(structured_output=False)
    async def test_missing_capability(context: Context[Any, Any]) -> str:
        """Needs sampling."""
        can = context.client_capabilities
        if can is None or can.sampling is None:
            needed: dict[str, Any] = {"requiredCapabilities": {"sampling": {}}}
            raise MCPError(code=MISSING_REQUIRED_CLIENT_CAPABILITY, message="sampling is needed", data=needed)
        return "done"

    @server.prompt()
    async def test_input_required_result_prompt(context: Context[Any, Any]) -> str | InputRequiredResult:
        """A prompt that asks for its context."""
        found = content(context, "user_context", "context")
        if found is None:
            question = _form("What context should the prompt use?", context={"type": "string"})
            return InputRequiredResult(input_requests={"user_context": question})
        return f"Use this context: {cast('str', found)}"
