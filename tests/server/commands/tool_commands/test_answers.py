"""Answers as they are printed in a narrow terminal."""

import io

from rich.cells import cell_len
from rich.console import Console

from callwright.server.commands.tool_commands.answers import show_answer


def test_the_items_of_a_cost_are_a_list_with_a_line_or_two_for_each() -> None:
    item = {"item": "llm", "quantity": 3000.0, "unit": "input_token", "status": "known", "provider": "openai"}
    cost = {"amount": "0.006493", "currency": "USD", "breakdown": [{**item, "item": name} for name in ("stt", "tts")]}
    console = Console(file=io.StringIO(), width=80)
    show_answer({"cost": cost}, console, console)
    assert isinstance(console.file, io.StringIO)
    lines = console.file.getvalue().splitlines()
    assert max(map(cell_len, lines)) <= 80
    assert [sum(f"item {name}," in line for line in lines) for name in ("stt", "tts")] == [1, 1]
    assert not any("stt" in line and "tts" in line for line in lines)


def test_a_difference_keeps_its_lines_and_short_values_are_named() -> None:
    diff = "@@ -1,2 +1,2 @@\n Be brief.\n-Ask for Monday.\n+Ask for Tuesday."
    differences = [
        {"field": "system_prompt", "diff": diff},
        {"field": "language", "before": "en-US", "after": "en-GB"},
    ]
    console = Console(file=io.StringIO(), width=80)
    show_answer({"id": "agt_1", "differences": differences}, console, console)
    assert isinstance(console.file, io.StringIO)
    lines = [line.strip() for line in console.file.getvalue().splitlines()]
    assert [line for line in diff.splitlines() if line.strip() not in lines] == []
    assert "language  before en-US  after en-GB" in lines
