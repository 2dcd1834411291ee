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
