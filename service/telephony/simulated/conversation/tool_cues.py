"""When an agent without a model calls its tools, with which arguments, and what it says of the answers.

All of it is decided by the words of the call, so that the same call calls the same tools.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from pydantic import JsonValue

from callwright.contract.agents.call_tools import CallTool, HttpTool
from callwright.contract.calls.calls import Disposition
from callwright.contract.checks.argument_schemas import properties_of, required_of
from callwright.service.rules.call_tools import ANSWER, tools_in
from callwright.service.rules.templates import Columns, render
from callwright.service.telephony.engine import CallRequest
from callwright.service.telephony.simulated.conversation.speech_acts import Wish

_ASKS: frozenset[Wish] = frozenset(("nothing", "question", "hurry"))
"""What a contact may want when a tool is asked something: nothing that the agent has to follow at once, and no no."""
_NO: Mapping[str, frozenset[str]] = {
    "de": frozenset(("nein", "nee", "nicht", "nichts", "kein", "keine", "keinen", "weder", "nie")),
    "en": frozenset(("no", "not", "nope", "nothing", "neither", "nor", "never", "none", "cancel")),
    "es": frozenset(("no", "ni", "nunca", "nada", "tampoco", "ninguno", "ninguna")),
    "fr": frozenset(("non", "pas", "ni", "rien", "jamais", "aucun", "aucune")),
    "hi": frozenset(("नहीं", "मत", "न")),
    "it": frozenset(("no", "non", "né", "niente", "mai", "nessuno", "nessuna")),
    "nl": frozenset(("nee", "niet", "niets", "geen", "noch", "nooit")),
    "pt": frozenset(("não", "nem", "nunca", "nada", "nenhum", "nenhuma")),
}
"""Words with which nothing is changed, by language. "I don't" counts too."""
_ANY_NO = frozenset(word for words in _NO.values() for word in words)
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class ToolUse:
    """A tool that is to be called now, and its arguments."""

    tool: CallTool
    arguments: Mapping[str, JsonValue]


class ToolCues:
    """The tools of one call that are called by rule, each once."""

    def __init__(self, request: CallRequest) -> None:
        self._left = [tool for tool in tools_in(request.agent.call_tools) if tool.use_when is not None]
        self._books = any(_changes(tool) for tool in self._left)
        self.has_booked = False
        """A tool that changes something, such as one that books, was called with success."""
        self._columns = request.variables
        self._answers: dict[str, JsonValue] = {}
        """The answers of tools that were called with success, by name."""

    @property
    def unbooked(self) -> Disposition | None:
        """What a call is that ends now although no tool has changed what it was to; None if none was to, or one has."""
        if self.has_booked or not self._books:
            return None
        return "interested" if self._answers else "incomplete"

    def due(self, heard: str, wish: Wish, language: str) -> ToolUse | None:
        """The tool that these words of the contact call; None if none does.

        A tool that changes something needs more than one that asks: words without any no, and one of its own words, or
        a value for an argument, among them. A tool whose required arguments are not known is not called.
        """
        for tool in self._left:
            use = tool.use_when
            if use is None or (use.after is not None and use.after not in self._answers):
                continue
            by_word = any(_stands_in(word, heard) for word in use.words)
            if not _allows(tool, wish) or (use.words and not by_word):
                continue
            arguments = self._arguments(tool, heard)
            if arguments is None:
                continue
            if _changes(tool) and (_says_no(heard, language) or not (by_word or self._names(tool, heard))):
                continue
            self._left.remove(tool)
            return ToolUse(tool, arguments)
        return None

    def told(self, use: ToolUse, *, ok: bool, answer: JsonValue) -> str:
        """What the agent says of an answer; empty if nothing is set for that."""
        self.has_booked = self.has_booked or (ok and _changes(use.tool))
        when = use.tool.use_when
        if when is None:
            return ""
        if not ok:
            return render(when.say_if_failed, self._columns).text
        self._answers[use.tool.name] = answer
        values = {**self._columns, **{name: _as_text(value) for name, value in use.arguments.items()}}
        return render(when.say, {**values, **dict(_parts(answer, ANSWER))}).text

    def _arguments(self, tool: CallTool, heard: str) -> dict[str, JsonValue] | None:
        """The arguments as far as they are known; None if a required one is not."""
        found: dict[str, JsonValue] = {}
        if isinstance(tool, HttpTool):
            for name, schema in properties_of(tool.parameters).items():
                value = self._argument(name, schema, heard, guesses=not _changes(tool))
                if value is not None:
                    found[name] = value
                elif name in required_of(tool.parameters):
                    return None
        return found

    def _argument(self, name: str, schema: Mapping[str, Any], heard: str, *, guesses: bool) -> JsonValue:
        """What is known of an argument: the contact's words first, then answers, columns and the schema itself.

        `guesses`: the first of several values will do.
        """
        choices = self._choices(name, schema)
        meant = _meant(choices, heard)
        if meant is not None:
            return meant
        if (found := self._answered(name)) is not None:
            return found
        column = Columns(self._columns).find(name)
        if column is not None and self._columns[column] and schema.get("type") == "string":
            return self._columns[column]
        if guesses and choices and not schema.get("enum"):
            return choices[0]
        for key in ("const", "default"):
            if key in schema:
                return schema[key]
        return next(iter((*schema.get("examples", ()), *schema.get("enum", ()))), None) if guesses else None

    def _choices(self, name: str, schema: Mapping[str, Any]) -> list[JsonValue]:
        return [*schema.get("enum", ()), *self._listed(name)]

    def _names(self, tool: CallTool, heard: str) -> bool:
        """Whether the contact's words name the value of an argument."""
        if not isinstance(tool, HttpTool):
            return False
        schemas = properties_of(tool.parameters).items()
        return any(_meant(self._choices(name, schema), heard) is not None for name, schema in schemas)

    def _answered(self, name: str) -> JsonValue:
        """The value of this name in the latest answer that has one."""
        for answer in reversed(self._answers.values()):
            if isinstance(answer, dict) and isinstance(answer.get(name), str | int | float | bool):
                return answer[name]
        return None

    def _listed(self, name: str) -> list[JsonValue]:
        """The texts that an earlier answer lists under this name, or its plural with an s."""
        for answer in reversed(self._answers.values()):
            found = (answer.get(name) or answer.get(f"{name}s")) if isinstance(answer, dict) else None
            if isinstance(found, list) and all(isinstance(one, str) for one in found):
                return found
        return []


def _changes(tool: CallTool) -> bool:
    """Whether something is different elsewhere after it."""
    return isinstance(tool, HttpTool) and tool.method != "GET"


def _allows(tool: CallTool, wish: Wish) -> bool:
    """Whether a tool may be called when the contact wants this."""
    if _changes(tool):
        return wish == "nothing"
    return wish in _ASKS or (wish == "no_start" and not isinstance(tool, HttpTool))


def _says_no(heard: str, language: str) -> bool:
    said = heard.casefold().replace("’", "'")
    return "n't" in said or any(word in _NO.get(language, _ANY_NO) for word in _WORD.findall(said))


def _stands_in(word: str, heard: str) -> bool:
    return _pattern(word).search(heard) is not None


@lru_cache(maxsize=1_024)
def _pattern(word: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(word)}(?!\w)", re.IGNORECASE)


def _meant(choices: list[JsonValue], heard: str) -> JsonValue:
    """The choice that shares the most words with what was heard, the first of equals; None if none shares any."""
    said = set(_WORD.findall(heard.casefold()))
    shared = [(len(said.intersection(_WORD.findall(str(one).casefold()))), one) for one in choices]
    most = max((count for count, _ in shared), default=0)
    return next(one for count, one in shared if count == most) if most else None


def _as_text(value: JsonValue) -> str:
    return value if isinstance(value, str) else str(value)


def _parts(value: JsonValue, name: str) -> Iterator[tuple[str, str]]:
    """The parts of an answer by their names, such as `answer.times.0`."""
    inner: Iterator[tuple[str | int, JsonValue]] = iter(())
    if isinstance(value, dict):
        inner = iter(value.items())
    elif isinstance(value, list):
        inner = iter(enumerate(value))
    else:
        yield name, "" if value is None else _as_text(value)
    for key, part in inner:
        yield from _parts(part, f"{name}.{key}")
