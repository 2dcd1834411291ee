"""What is typed becomes the value that the tool declares; what is wrong stays for the tool to refuse."""

from pathlib import Path
from typing import Any

import pytest

from callwright.server.commands.command_error import CommandError
from callwright.server.commands.tool_commands.declared import declared_tools
from callwright.server.commands.tool_commands.values import arguments_of, value_of

TOOLS = declared_tools()


def no_input() -> str:
    raise AssertionError("standard input is read")


@pytest.mark.parametrize(
    ("tool", "name", "text", "value"),
    [
        ("list_calls", "per_page", "5", 5),
        ("list_calls", "per_page", "five", "five"),
        ("list_calls", "outcome", "answered, busy", ["answered", "busy"]),
        ("list_calls", "outcome", '["answered"]', ["answered"]),
        ("create_deployment", "calls_per_second", "2.5", 2.5),
        ("create_deployment", "auto_start", "no", False),
        ("create_deployment", "auto_start", "perhaps", "perhaps"),
        ("create_deployment", "budget_cap", "5.00", "5.00"),
        ("create_deployment", "voicemail", '{"action": "hangup"}', {"action": "hangup"}),
        ("create_agent", "name", "42", "42"),
        ("create_agent", "name", "@@home", "@home"),
        ("set_call_tools", "call_tools", '{"call_tools": [{"type": "end_call"}]}', [{"type": "end_call"}]),
        ("set_call_tools", "call_tools", '{"call_tools": [], "id": "agt_1"}', {"call_tools": [], "id": "agt_1"}),
        ("update_agent", "welcome_message", "null", None),
        ("create_agent", "name", "null", "null"),
    ],
)
def test_a_text_becomes_the_kind_of_value_that_is_declared(tool: str, name: str, text: str, value: Any) -> None:
    argument = TOOLS[tool].argument(name)
    assert argument is not None
    assert value_of(argument, text) == value


def test_arguments_come_as_json_as_pairs_from_files_and_from_standard_input(tmp_path: Path) -> None:
    file = tmp_path / "more.json"
    file.write_text('{"name": "of the file", "language": "en-US"}', encoding="utf-8")
    prompt = tmp_path / "prompt.txt"
    prompt.write_text("Ask = listen.\n", encoding="utf-8")
    words = ["-", f"@{file}", '{"voice_id": "v"}', f"system-prompt=@{prompt}", "name=a=b", "other=[1]"]
    found = arguments_of(TOOLS["create_agent"], words, lambda: '{"name": "of the input", "welcome_message": "Hello"}')
    assert found == {
        "name": "a=b",
        "welcome_message": "Hello",
        "language": "en-US",
        "voice_id": "v",
        "system_prompt": "Ask = listen.\n",
        "other": [1],
    }


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ('{"name":', "not JSON, line 1 column 9"),
        ("[1]", "not a JSON object"),
        ("Ada", "'Ada' is no argument of create_agent"),
        ("=x", "is no argument"),
        ("@none.json", "none.json cannot be read"),
        ("name=@none.txt", "none.txt cannot be read"),
    ],
)
def test_words_that_are_no_arguments_are_refused_with_what_is_one(word: str, said: str) -> None:
    with pytest.raises(CommandError, match=said.replace("[", r"\[")):
        arguments_of(TOOLS["create_agent"], [word], no_input)
