"""What a person types in a shell, as the arguments of a tool: JSON, `name=value`, files, standard input.

Only the form is read here. Whether a value is right is for the tool to say, as it says it to an assistant.
"""

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from callwright.list_files.texts import text_of
from callwright.list_files.unreadable import UnreadableList
from callwright.server.commands.command_error import CommandError
from callwright.server.commands.tool_commands.declared import DeclaredArgument, DeclaredTool

_LISTS = "csv"
"""The argument that takes the text of a list, whose file is in any encoding that lists are read in."""
_YES, _NO = ("true", "yes", "1"), ("false", "no", "0")
MOST_BYTES = 10_000_000
"""The largest file that is taken as the value of an argument. Whole lists are imported by their path instead."""


def arguments_of(tool: DeclaredTool, words: Sequence[str], read_stdin: Callable[[], str]) -> dict[str, Any]:
    """The arguments of a tool from the words after its name; of two values for a name the last one counts.

    A word is a JSON object, `-` for one on standard input, `@FILE` for one in a file, or `name=value`. Raises
    `CommandError`.
    """
    given: dict[str, Any] = {}
    for word in words:
        if word == "-":
            given |= _object(read_stdin(), "standard input")
        elif word.startswith("@"):
            given |= _object(_content(word[1:], read_stdin), word[1:])
        elif word.lstrip().startswith(("{", "[")):
            given |= _object(word, "the argument")
        else:
            name, is_pair, text = word.partition("=")
            if not is_pair or not name:
                raise CommandError(
                    f"{word!r} is no argument of {tool.name}; write a JSON object, name=value, @FILE, or - for "
                    "standard input"
                )
            known = tool.argument(name)
            given[known.name if known else name] = _untyped(text) if known is None else value_of(known, text)
    return given


def value_of(argument: DeclaredArgument, text: str, read_stdin: Callable[[], str] | None = None) -> Any:
    """The value of one argument. `@FILE` is the content of a file, `@-` standard input, and `@@…` a text that begins
    with @. The file of a list is read as lists are. Raises `CommandError`.
    """
    if text.startswith("@@"):
        text = text[1:]
    elif text.startswith("@") and len(text) > 1:
        text = _content(text[1:], read_stdin or sys.stdin.read, is_list=argument.name == _LISTS)
    if argument.takes_null and text == "null":
        return None
    found = _READERS[argument.kind](text)
    return _inside(found, argument.name) if argument.kind == "list" else found


def _integer(text: str) -> Any:
    try:
        return int(text)
    except ValueError:
        return text  # the tool refuses it, and says what it takes


def _number(text: str) -> Any:
    try:
        found = float(text)
    except ValueError:
        return text
    return int(found) if found.is_integer() else found


def _yes_or_no(text: str) -> Any:
    known = text.strip().lower()
    return True if known in _YES else False if known in _NO else text


def _list(text: str) -> Any:
    """A JSON list, else values with commas between them."""
    if text.lstrip().startswith(("[", "{")):
        return _untyped(text)
    return [part.strip() for part in text.split(",") if part.strip()]


def _inside(found: Any, name: str) -> Any:
    """The list in the body of a request, as docs print it: `{"call_tools": [...]}`; else what was found."""
    if not isinstance(found, dict):
        return found
    body = cast("dict[str, Any]", found)
    return body[name] if list(body) == [name] else body


def _untyped(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _text(text: str) -> Any:
    return text


_READERS: Mapping[str, Callable[[str], Any]] = {
    "text": _text,
    "integer": _integer,
    "number": _number,
    "yes or no": _yes_or_no,
    "list": _list,
    "object": _untyped,
}


def _content(name: str, read_stdin: Callable[[], str], *, is_list: bool = False) -> str:
    if name == "-":
        return read_stdin()
    try:
        path = Path(name).expanduser()
        if path.stat().st_size > MOST_BYTES:
            raise CommandError(f"{name} is larger than {MOST_BYTES // 1_000_000} MB")
        if is_list:
            return text_of(path.read_bytes())
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise CommandError(f"{name} cannot be read: {error.strerror or error}") from error
    except UnreadableList as error:
        raise CommandError(f"{name} cannot be read: {error}") from error
    except ValueError as error:
        raise CommandError(f"{name} is not a text in UTF-8") from error


def _object(text: str, where: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        at = f", line {error.lineno} column {error.colno}" if isinstance(error, json.JSONDecodeError) else ""
        raise CommandError(f"{where} is not JSON{at}") from error
    if not isinstance(found, dict):
        raise CommandError(f'{where} is not a JSON object; write for example \'{{"name": "Ada"}}\'')
    return cast("dict[str, Any]", found)
