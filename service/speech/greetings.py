"""The sentence of a voice's preview: one short question, the same in every language."""

import json
from functools import cache
from pathlib import Path

_FILE = Path(__file__).with_name("greetings.json")


@cache
def greetings() -> dict[str, str]:
    """The sentence for each language that voices speak, by the first part of its tag."""
    return json.loads(_FILE.read_text(encoding="utf-8"))


def greeting(language: str) -> str:
    """The sentence in the language of a BCP-47 tag."""
    return greetings()[language.partition("-")[0]]
