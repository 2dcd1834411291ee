"""The files of hosts, read as each host reads its own: shape, allowed keys, and how secrets are put in.

Every function gives the one server of a file. An AssertionError says what the host would not understand.
"""

import json
import re
import shlex
import tomllib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from tests.hosts.starting import Address, Program

Server = Program | Address
Values = Mapping[str, str]
"""What stands in the environment of the host, and what a person types in, by name."""

_STDIO = {"command", "args", "env"}


def claude_desktop(text: str, values: Values) -> Server:
    """`claude_desktop_config.json`: programs alone, nothing is put in."""
    return _program(_only(json.loads(text), "mcpServers"), _STDIO)


def claude_code(text: str, values: Values) -> Server:
    """`.mcp.json`: `${NAME}` and `${NAME:-default}` in every value; an address says its type."""
    entry = _filled(_only(json.loads(text), "mcpServers"), r"\$\{(\w+)(?::-([^}]*))?\}", values)
    if "url" in entry:
        assert entry.pop("type") == "http"
        return _address(entry, "url")
    return _program(entry, {*_STDIO, "type"})


def vs_code(text: str, values: Values) -> Server:
    """`.vscode/mcp.json`: `${input:id}` for inputs that the file declares; every server says its type."""
    document = json.loads(text)
    inputs = document.pop("inputs", [])
    assert [each for each in inputs if not each["password"] or each["type"] != "promptString"] == []
    declared = {each["id"]: values[each["id"]] for each in inputs}
    entry = _filled(_only(document, "servers"), r"\$\{input:([\w-]+)()\}", declared)
    kind = entry.pop("type")
    assert kind == ("http" if "url" in entry else "stdio")
    return _address(entry, "url") if kind == "http" else _program(entry, _STDIO)


def cursor(text: str, values: Values) -> Server:
    """`.cursor/mcp.json`: `${env:NAME}` in every value."""
    entry = _filled(_only(json.loads(text), "mcpServers"), r"\$\{env:(\w+)()\}", values)
    return _address(entry, "url") if "url" in entry else _program(entry, _STDIO)


def codex(text: str, values: Values) -> Server:
    """`config.toml`: a table of `mcp_servers`; the key of an address stands in the environment."""
    entry = _only(tomllib.loads(text), "mcp_servers")
    if "url" in entry:
        assert set(entry) <= {"url", "bearer_token_env_var", "startup_timeout_sec"}
        return Address(entry["url"], {"Authorization": f"Bearer {values[entry['bearer_token_env_var']]}"})
    assert entry.pop("startup_timeout_sec", 60) > 10
    return _program(entry, _STDIO)


def gemini(text: str, values: Values) -> Server:
    """`settings.json` of Gemini CLI: `$NAME`; `httpUrl` is Streamable HTTP, `url` would be SSE."""
    entry = _filled(_only(json.loads(text), "mcpServers"), r"\$(\w+)()", values)
    return _address(entry, "httpUrl") if "httpUrl" in entry else _program(entry, _STDIO)


def windsurf(text: str, values: Values) -> Server:
    """`mcp_config.json` of Windsurf: `${env:NAME}` in every value; an address is called `serverUrl`."""
    entry = _filled(_only(json.loads(text), "mcpServers"), r"\$\{env:(\w+)()\}", values)
    return _address(entry, "serverUrl") if "serverUrl" in entry else _program(entry, _STDIO)


def zed(text: str, values: Values) -> Server:
    """`settings.json` of Zed: nothing is put in."""
    entry = _only(json.loads(text), "context_servers")
    return _address(entry, "url") if "url" in entry else _program(entry, _STDIO)


FILES: Mapping[str, Callable[[str, Values], Server]] = {
    "claude_desktop_config.json": claude_desktop,
    ".mcp.json": claude_code,
    ".vscode/mcp.json": vs_code,
    ".cursor/mcp.json": cursor,
    "~/.codex/config.toml": codex,
    "~/.gemini/settings.json": gemini,
    "~/.codeium/windsurf/mcp_config.json": windsurf,
    "zed settings.json": zed,
}
"""How the file with a title is read."""


def claude_mcp_add(words: Sequence[str]) -> Server:
    """`claude mcp add`: an option that takes several values takes every word up to the next option.

    So such an option directly before the name would swallow the name.
    """
    several = {"--env": "--env", "-e": "--env", "--header": "--header", "-H": "--header"}
    single = {"--transport": "--transport", "-t": "--transport", "--scope": "--scope", "-s": "--scope"}
    options: dict[str, list[str]] = {"--env": [], "--header": [], "--transport": [], "--scope": []}
    own, command = _split(list(words))
    positional: list[str] = []
    while own:
        word = own.pop(0)
        if word in several:
            while own and not own[0].startswith("-"):
                options[several[word]].append(own.pop(0))
        elif word in single:
            options[single[word]].append(own.pop(0))
        else:
            assert not word.startswith("-"), f"claude mcp add knows no {word}"
            positional.append(word)
    assert set(options["--scope"]) <= {"local", "user", "project"}
    if options["--transport"] == ["http"]:
        (name, url), headers = positional, dict(each.split(": ", 1) for each in options["--header"])
        assert not command
        assert not options["--env"]
        return Address(_named(name, url), headers)
    (name,) = positional
    env = dict(each.split("=", 1) for each in options["--env"])
    return Program(_named(name, command[0]), tuple(command[1:]), env)


def codex_mcp_add(words: Sequence[str], values: Values) -> Server:
    """`codex mcp add`: the name first; an option takes one value; the key of an address is in the environment."""
    own, command = _split(list(words))
    name, *rest = own
    options = _pairs(rest, {"--env", "--url", "--bearer-token-env-var"})
    if options["--url"]:
        assert not command
        (url,), (variable,) = options["--url"], options["--bearer-token-env-var"]
        return Address(_named(name, url), {"Authorization": f"Bearer {values[variable]}"})
    env = dict(each.split("=", 1) for each in options["--env"])
    return Program(_named(name, command[0]), tuple(command[1:]), env)


def gemini_mcp_add(words: Sequence[str]) -> Server:
    """`gemini mcp add`: options before the name; what stands behind `--` are arguments of the command before it."""
    own, command = _split(list(words))
    at = next(index for index in range(0, len(own), 2) if not own[index].startswith("-"))
    options = _pairs(own[:at], {"--scope", "--env", "--transport", "--header"})
    name, value, *arguments = own[at:]
    assert set(options["--scope"]) <= {"user", "project"}
    if options["--transport"] == ["http"]:
        assert not [*command, *arguments, *options["--env"]]
        return Address(_named(name, value), dict(each.split(": ", 1) for each in options["--header"]))
    assert not [*options["--header"], *options["--transport"]]
    env = dict(each.split("=", 1) for each in options["--env"])
    return Program(_named(name, value), (*arguments, *command), env)


def code_add_mcp(words: Sequence[str]) -> Server:
    """`code --add-mcp`: one JSON object with the name inside."""
    (text,) = words
    entry = json.loads(text)
    return _program(entry, {*_STDIO, "name"}, _named(entry["name"], entry["command"]))


def words_of(line: str) -> list[str]:
    """A line of a terminal, as a shell splits it. Variables and redirections are none of these pages'."""
    assert not re.search(r"[$`|;&<>]", line), line
    return shlex.split(line)


def _pairs(words: Sequence[str], known: set[str]) -> dict[str, list[str]]:
    """Options that take one value each, with all their values."""
    options: dict[str, list[str]] = {name: [] for name in known}
    for name, value in zip(words[::2], words[1::2], strict=True):
        assert name in known, f"{name} is no option"
        options[name].append(value)
    return options


def _split(words: list[str]) -> tuple[list[str], list[str]]:
    if "--" not in words:
        return words, []
    at = words.index("--")
    return words[:at], words[at + 1 :]


def _named(name: str, value: str) -> str:
    assert name == "callwright"
    return value


def _only(document: dict[str, Any], key: str) -> dict[str, Any]:
    """The entry of the one server, under the one key that the host looks at."""
    assert set(document) == {key}, f"the host reads {key} alone, not {sorted(document)}"
    assert set(document[key]) == {"callwright"}
    return cast("dict[str, Any]", document[key]["callwright"])


def _filled(entry: dict[str, Any], pattern: str, values: Values) -> dict[str, Any]:
    """The entry with names replaced by values; the second group of the pattern is a default."""

    def value(found: re.Match[str]) -> str:
        name, default = found.groups()
        if name in values:
            return values[name]
        assert default, f"{name} has no value"
        return cast("str", default)

    def fill(part: Any) -> Any:
        if isinstance(part, str):
            return re.sub(pattern, value, part)
        if isinstance(part, list):
            return [fill(each) for each in cast("list[Any]", part)]
        if isinstance(part, dict):
            return {key: fill(each) for key, each in cast("dict[str, Any]", part).items()}
        return part

    return cast("dict[str, Any]", fill(entry))


def _program(entry: Mapping[str, Any], allowed: set[str], command: str | None = None) -> Program:
    assert set(entry) <= allowed, f"the host reads {sorted(allowed)}, not {sorted(entry)}"
    env: dict[str, str] = entry.get("env", {})
    for each in (entry["command"], *entry.get("args", []), *env.values()):
        assert isinstance(each, str)
        assert "${" not in each, f"the host leaves {each} as it stands"
    return Program(command or entry["command"], tuple(entry.get("args", [])), env)


def _address(entry: Mapping[str, Any], key: str) -> Address:
    assert set(entry) == {key, "headers"}
    for each in (entry[key], *entry["headers"].values()):
        assert "$" not in each, f"the host leaves {each} as it stands"
    return Address(entry[key], entry["headers"])
