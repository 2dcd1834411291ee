"""Messages that are none, and parts of messages that would be sent back at any length: refused in words."""

import json
import subprocess
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError
from mcp.types import PromptReference

from tests.support.http.raw_requests import AsyncClient
from tests.support.mcp.over_http import OLDER, PROTOCOL, open_served, request
from tests.support.processes.programs import spawned
from tests.support.tools.fakes import ERAS, FakeCaller, assistant, server

PING: dict[str, Any] = {"jsonrpc": "2.0", "id": 7, "method": "ping"}
CAPABLE = (("clientCapabilities", dict[str, Any]()),)
LONG = "n" * 900_000
WRONG: dict[str, tuple[Any, int, int | None, str]] = {
    "a list": ([PING, PING], -32600, None, "A list of messages is not taken: send each by itself."),
    "a text": ("ping", -32600, None, "A message is a JSON object."),
    "no version": ({"id": 7, "method": "ping"}, -32600, 7, 'jsonrpc: must be "2.0".'),
    "no method": ({"jsonrpc": "2.0", "id": 7}, -32600, 7, "method: is required."),
    "a method that is a list": ({**PING, "method": ["ping"]}, -32600, 7, "method: must be text."),
    "a long method": ({**PING, "method": LONG}, -32600, 7, "method: has 900000 characters; at most 200 are allowed"),
    "parameters in a list": ({**PING, "params": [1]}, -32602, 7, "params: must be an object"),
    "no id": ({**PING, "id": None}, -32600, None, "id: must be text or a whole number"),
    "half a character for an id": ({**PING, "id": "\ud800"}, -32600, None, "id: must be text or a whole number"),
    "half a character, and no version": ({"id": "\ud800", "method": "ping"}, -32600, None, "jsonrpc: must be"),
    "an id of many digits": ({**PING, "id": 10**4_000}, -32600, None, "id: must be text or a whole number"),
    "an id that is true": ({**PING, "id": True}, -32600, None, "id: must be text or a whole number"),
    "a long id": ({**PING, "id": LONG}, -32600, None, "id: has 900000 characters; at most 255 are allowed"),
    "an error that is a list": ({"jsonrpc": "2.0", "id": 7, "error": [1]}, -32600, 7, "error: must be an object"),
    "a result that is a list": ({"jsonrpc": "2.0", "id": 7, "result": [1]}, -32600, 7, "result: must be an object"),
    "a result of nothing": ({"jsonrpc": "2.0", "result": {}}, -32600, None, "id: must be text or a whole number"),
    "a long version": (
        {**PING, "params": {"_meta": {"io.modelcontextprotocol/protocolVersion": LONG}}},
        -32600,
        7,
        "params._meta.io.modelcontextprotocol/protocolVersion: has 900000 characters; at most 200 are allowed",
    ),
}


@pytest.mark.parametrize("name", WRONG)
async def test_what_is_no_message_is_refused_in_words_by_every_transport(http: AsyncClient, name: str) -> None:
    message, code, known, words = WRONG[name]
    newer = {**OLDER, "MCP-Protocol-Version": PROTOCOL, "Mcp-Method": "ping"}
    for path, headers in (("/mcp", newer), ("/mcp", OLDER), ("/messages/?session_id=x", OLDER)):
        sent = json.dumps(message).encode()  # half a character goes as its escape
        answer = await http.post(path, content=sent, headers={**headers, "Content-Type": "application/json"})
        assert answer.status_code == 400
        assert answer.json()["id"] == known
        assert answer.json()["error"]["code"] == code
        assert answer.json()["error"]["message"].startswith(words)


CALL = b'{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "get_wallet", "arguments": %s}}'
UNREADABLE: dict[str, tuple[bytes, int, int | None, str]] = {
    "half a character": (CALL % b'{"a": ["b", "\\ud800"]}', -32700, 7, "params.arguments.a.1: holds half a character"),
    "half a character in a key": (
        CALL % b'{"a": {"\\ud800": 1}}',
        -32700,
        7,
        "params.arguments.a: has a key with half",
    ),
    "NaN": (CALL % b'{"a": NaN}', -32700, 7, "params.arguments.a: is not a number that JSON has"),
    "Infinity": (CALL % b'{"a": -Infinity}', -32700, 7, "params.arguments.a: is not a number that JSON has"),
    "an endless number": (CALL % b'{"a": 1e999}', -32700, 7, "params.arguments.a: is not a number that JSON has"),
    "900 levels": (CALL % (b"[" * 900 + b"]" * 900), -32600, 7, "The message is nested more than 100 levels deep."),
    "no end of levels": (b"[" * 19_000, -32700, None, "The message is nested more than 100 levels deep."),
    "a mark in front": (b"\xef\xbb\xbf" + CALL % b"{}", -32700, None, "The message begins with a byte order mark."),
    "UTF-16": ((CALL % b"{}").decode().encode("utf-16"), -32700, None, "The message is in UTF-16."),
    "UTF-16 without a mark": ((CALL % b"{}").decode().encode("utf-16-le"), -32700, None, "The message is in UTF-16."),
    "no UTF-8": (b'{"jsonrpc": "\xff"}', -32700, None, "The message is not UTF-8: byte 14 belongs to no character."),
    "cut off": ((CALL % b"{}")[:-1], -32700, None, "The message is not JSON: it ends too early."),
    "cut off in a text": (b'{"jsonrpc": "2.', -32700, None, "The message is not JSON: it ends too early."),
    "another language": (
        b"{'jsonrpc': '2.0'}",
        -32700,
        None,
        "The message is not JSON: character 2 has no place there.",
    ),
    "nothing": (b"", -32700, None, "The message is empty."),
    "spaces": (b" \r\n", -32700, None, "The message is empty."),
    "a key twice": (CALL % b'{"a": 1, "a": 2}', -32600, 7, "The key 'a' stands twice in one object."),
    "10,001 keys": (
        CALL % json.dumps(dict.fromkeys(map(str, range(10_001)))).encode(),
        -32600,
        7,
        "An object in the message has 10,001 keys; at most 10,000 are allowed.",
    ),
    "5,000 digits": (
        CALL % (b'{"a": %s}' % (b"9" * 5_000)),
        -32700,
        None,
        "The message is not JSON: it holds a number",
    ),
}


@pytest.mark.parametrize("name", UNREADABLE)
async def test_what_is_no_json_is_refused_in_words_by_every_transport(http: AsyncClient, name: str) -> None:
    body, code, known, words = UNREADABLE[name]
    for path, version in (("/mcp", PROTOCOL), ("/mcp", "2025-11-25"), ("/messages/?session_id=x", "2025-11-25")):
        headers = {**OLDER, "MCP-Protocol-Version": version, "Content-Type": "application/json"}
        answer = await http.post(path, content=body, headers=headers)
        error = answer.json()["error"]
        assert (answer.status_code, answer.json()["id"], error["code"]) == (400, known, code)
        assert error["message"].startswith(words)
        assert ". Send " in error["message"] or ". Leave " in error["message"]
        assert len(error["message"]) < 300


async def test_ten_thousand_keys_of_one_object_reach_the_tool(http: AsyncClient) -> None:
    sent = request("tools/call", name="get_wallet", arguments=dict.fromkeys(map(str, range(10_000)), 1))
    headers = {**OLDER, "MCP-Protocol-Version": PROTOCOL, "Mcp-Method": "tools/call", "Mcp-Name": "get_wallet"}
    answer = await http.post("/mcp", json=sent, headers=headers)
    assert (answer.status_code, answer.json()["result"]["isError"]) == (200, True), answer.text
    assert "9980 more" in answer.text


async def test_many_small_lists_are_refused_for_all_that_is_in_them(http: AsyncClient) -> None:
    meta = {f"io.modelcontextprotocol/{name}": value for name, value in (("protocolVersion", PROTOCOL), *CAPABLE)}
    sent = {**PING, "method": "tools/list", "params": {"cursor": [[[1] * 98] * 48] * 98, "_meta": meta}}
    headers = {**OLDER, "MCP-Protocol-Version": PROTOCOL, "Mcp-Method": "tools/list"}
    answer = await http.post("/mcp", json=sent, headers=headers)
    assert "has more entries than the 2000 that are allowed in all" in answer.text, answer.text


@pytest.mark.parametrize("era", ERAS)
async def test_no_method_repeats_what_is_too_long(era: str) -> None:
    async with assistant(server(FakeCaller()), era) as client:
        prompt = PromptReference(name="review_call")
        asked: tuple[tuple[str, Callable[[], Awaitable[object]]], ...] = (
            ("params.name", lambda: client.call_tool(LONG, {})),
            ("params.uri", lambda: client.read_resource(f"callwright://{LONG}")),
            ("params.name", lambda: client.get_prompt(LONG, {})),
            ("params.arguments.call_id", lambda: client.get_prompt("review_call", {"call_id": LONG})),
            ("params.argument.value", lambda: client.complete(prompt, {"name": "call_id", "value": LONG})),
            ("params.cursor", lambda: client.list_tools(cursor=LONG)),
        )
        for place, ask in asked:
            with pytest.raises(MCPError) as caught:
                await ask()
            error = caught.value.error
            assert (error.code, error.data) == (-32602, None)
            assert error.message.startswith(f"{place}: has ")
            assert error.message.endswith("at most 4000 are allowed")
        with pytest.raises(MCPError) as caught:
            await client.get_prompt("review_call", dict.fromkeys(map(str, range(101)), "x"))
        assert caught.value.error.message == "params.arguments: has 101 entries; at most 100 are allowed"


async def test_headers_of_the_protocol_are_not_repeated_at_any_length(http: AsyncClient) -> None:
    for method in ("GET", "POST", "DELETE"):
        sent = {**OLDER, "MCP-Protocol-Version": "v" * 20_000}
        answer = await http.request(method, "/mcp", headers=sent)
        assert answer.status_code == 400
        said = answer.json()["error"]["message"]
        assert said == "mcp-protocol-version: has 20000 bytes; at most 16384 are allowed"


AGAIN = "Correct it and send the request again."
WRONG_PARAMS: dict[str, tuple[str, dict[str, Any] | None, str]] = {
    "a name that is a number": ("tools/call", {"name": 5}, "params.name: should be text."),
    "no name": ("tools/call", {}, "params.name: is required."),
    "no parameters": ("tools/call", None, "params: is required."),
    "a list of arguments": (
        "tools/call",
        {"name": "get_wallet", "arguments": []},
        "params.arguments: should be an obj",
    ),
    "a prompt without a name": ("prompts/get", {}, "params.name: is required."),
    "a number in a prompt": (
        "prompts/get",
        {"name": "review_call", "arguments": {"call_id": 5}},
        "params.arguments.call_id: should be text.",
    ),
    "an address that is a number": ("resources/read", {"uri": 5}, "params.uri: should be text."),
    "no address": ("resources/read", {}, "params.uri: is required."),
    "a cursor that is a list": ("tools/list", {"cursor": []}, "params.cursor: should be text."),
    "a reference to nothing": (
        "completion/complete",
        {"ref": {"type": "x"}, "argument": {"name": "a", "value": "b"}},
        "params.ref.type: should be 'ref/prompt' or should be 'ref/resource'.",
    ),
    "a reference without an address": (
        "completion/complete",
        {"ref": {"type": "ref/resource"}, "argument": {"name": "a", "value": "b"}},
        "params.ref.uri: is required.",
    ),
}


@pytest.mark.parametrize("name", WRONG_PARAMS)
async def test_parameters_of_a_wrong_form_are_refused_by_their_names(
    database_url: str, tmp_path: Path, name: str
) -> None:
    method, params, words = WRONG_PARAMS[name]
    async with (
        open_served(database_url, tmp_path, workers=False, keeps_sessions=False) as served,
        served.raw_client() as http,
    ):
        older: dict[str, Any] = {"jsonrpc": "2.0", "id": 7, "method": method}
        answers = [
            await http.post("/mcp", json=older if params is None else {**older, "params": params}, headers=OLDER)
        ]
        named = None if params is None else params.get("name", params.get("uri", ""))
        if params is not None and isinstance(named, str):  # with a number the header is what is wrong first
            headers = {**OLDER, "MCP-Protocol-Version": PROTOCOL, "Mcp-Method": method, "Mcp-Name": named}
            answers.append(await http.post("/mcp", json=request(method, **params), headers=headers))
        for answer in answers:
            error = json.loads(answer.text.partition("data: ")[2] or answer.text)["error"]
            assert (error["code"], error.get("data")) == (-32602, None), error
            assert error["message"].startswith(words)
            assert error["message"].endswith(AGAIN)


@pytest.mark.parametrize("method", ["tools/list", "tools/call"])
async def test_a_request_before_the_handshake_is_told_to_begin_with_it(tmp_path: Path, method: str) -> None:
    with spawned(tmp_path, "mcp", "--data", tmp_path / "data", stdin=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        sent = {"jsonrpc": "2.0", "id": 7, "method": method, "params": {"name": "get_wallet"}}
        process.stdin.write(json.dumps(sent).encode() + b"\n")
        process.stdin.flush()
        error = json.loads(process.stdout.readline())["error"]
        assert (error["code"], error["message"].partition(".")[0]) == (-32602, "This connection has not begun")
