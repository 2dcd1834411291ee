"""JSON on standard output, for programs and for people: readable letters, and nothing that a terminal executes."""

import json
import sys
from typing import Any


def json_text(value: Any, *, indent: int | None = 2) -> str:
    """A value as JSON. Characters that cannot be seen are escaped, whoever wrote them."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    return "".join(one if one == "\n" or one.isprintable() else json.dumps(one)[1:-1] for one in text)


def print_json(value: Any, *, indent: int | None = 2) -> None:
    """Prints a value as JSON and ends the line."""
    sys.stdout.write(json_text(value, indent=indent) + "\n")
