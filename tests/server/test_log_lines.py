"""What is logged of requests: short lines without control characters, whoever sends what."""

import logging
import socket
import sys
from contextlib import suppress
from pathlib import Path

import httpx2 as httpx
import pytest

from callwright.server.log_lines import LONGEST, LONGEST_TRACEBACK, ShortLines
from tests.support.processes.programs import START_S, serving


def line_of(message: str, *arguments: object) -> str:
    return ShortLines().format(logging.LogRecord("x", logging.WARNING, "x", 1, message, arguments, None))


def test_a_long_message_is_cut_and_says_how_long_it_was() -> None:
    said = line_of("Invalid Origin header: %s", "a" * 60_000)
    assert len(said) < LONGEST + 100
    assert said.endswith("… (60023 characters)")


def test_control_characters_are_escaped() -> None:
    assert line_of("a\nb\x1b[31m\u202e\x00") == r"WARNING x: a\nb\x1b[31m\u202e\x00"
    assert line_of("Zoë") == "WARNING x: Zoë"


def test_a_traceback_is_kept_in_lines_and_bounded() -> None:
    try:
        raise ValueError("\x1b" + "a" * 100_000)
    except ValueError:
        record = logging.LogRecord("x", logging.ERROR, "x", 1, "failed", (), sys.exc_info())
    said = ShortLines().format(record)
    assert len(said) < LONGEST_TRACEBACK + 100
    assert "\x1b" not in said
    assert "failed\n" in said


def _sent(root: str, *pieces: bytes) -> None:
    with socket.create_connection(("127.0.0.1", int(root.rpartition(":")[2])), timeout=START_S) as line:
        line.sendall(b"".join(pieces))
        line.shutdown(socket.SHUT_WR)
        with suppress(ConnectionResetError):  # it may be closed before all of it is read
            while line.recv(65_536):
                pass


@pytest.mark.parametrize("long", [b"a" * 60_000, b"\xff\x1b[2J" * 10_000], ids=["letters", "escapes"])
def test_nobody_without_a_key_writes_a_long_line_into_the_log(tmp_path: Path, long: bytes) -> None:
    with serving(tmp_path, tmp_path / "data") as service:
        before = service.log.read_bytes()
        host = b"Host: 127.0.0.1\r\n"
        for path in (b"/mcp", b"/sse", b"/messages/?session_id=1", b"/v1/wallet", b"/nowhere"):
            _sent(service.root, b"POST " + path + b" HTTP/1.1\r\n" + host + b"Origin: http://" + long + b"\r\n\r\n")
            _sent(service.root, b"POST " + path + b" HTTP/1.1\r\nHost: " + long + b"\r\n\r\n")
            _sent(
                service.root, b"GET " + path + b" HTTP/1.1\r\n" + host + b"Authorization: Bearer " + long + b"\r\n\r\n"
            )
            _sent(service.root, b"GET " + path + b"?" + long + b" HTTP/1.1\r\n" + host + b"\r\n")
            _sent(service.root, b"GET " + path + long + b" HTTP/1.1\r\n" + host + b"Upgrade: " + long + b"\r\n\r\n")
            _sent(service.root, long + b" " + path + b" HTTP/1.1\r\n" + host + b"\r\n")
        assert httpx.get(f"{service.root}/healthz", timeout=START_S).status_code == 200
        written = service.log.read_bytes()[len(before) :]
    assert max(map(len, written.split(b"\n"))) < LONGEST + 200
    assert b"\x1b" not in written
