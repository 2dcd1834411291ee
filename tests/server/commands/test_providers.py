"""`callwright providers`: the key is typed without being shown, or comes through a pipe, and is printed nowhere."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.support.commands.terminal import at_terminal
from tests.support.commands.words import refused, said
from tests.support.processes.programs import STOP_S, run, spawned

KEY = "sk-thisIsTheKeyOfTheTests-9f3a"
FIRST = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="
SECOND = "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWY="


def piped(home: Path, *arguments: str, key: str = KEY, **settings: str) -> str:
    """What `providers set` prints when the key comes through a pipe."""
    words = ("providers", "set", *arguments, "--data", home / "data")
    with spawned(home, *words, stdin=subprocess.PIPE, settings=settings) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(f"{key}\n".encode())
        process.stdin.close()
        shown = process.stdout.read().decode()
        assert process.stderr.read().decode() == ""
        assert process.wait(STOP_S) == 0
    assert KEY not in shown
    return shown


def listed(home: Path) -> list[dict[str, object]]:
    fields = "--fields=name,has_key,key_ends_with,default_for,voice"
    return json.loads(said(home, "providers", "list", fields, "--json"))["data"]


def test_a_key_through_a_pipe_is_set_and_only_its_end_is_shown(tmp_path: Path) -> None:
    shown = piped(tmp_path, "ours", "--kind=openai", "--default-for=hearing,thinking")
    assert shown == (
        "ours is set: openai, for hearing, thinking, speaking; its key ends with 9f3a\n"
        "Agents that name no provider use it for hearing, thinking.\n"
    )
    assert listed(tmp_path) == [
        {"name": "ours", "has_key": True, "key_ends_with": "9f3a", "default_for": ["hearing", "thinking"]}
    ]
    kept = json.loads(piped(tmp_path, "ours", "--kind=openai", "--json", key=""))
    assert (kept["key_ends_with"], kept["default_for"]) == ("9f3a", [])
    assert said(tmp_path, "providers", "remove", "ours").split() == ["id", "ours", "deleted", "yes"]
    assert listed(tmp_path) == []


@pytest.mark.requirement("PROVIDER-11")
def test_a_key_that_is_typed_is_not_shown(tmp_path: Path) -> None:
    words = ("providers", "set", "mouth", "--kind=elevenlabs", "--voice=her", "--data", tmp_path / "data")
    with at_terminal(tmp_path, *words) as terminal:
        terminal.until(
            "Key of mouth (not shown; empty keeps the one that is set): "
        )  # the blank comes once echo is off
        terminal.type(f"{KEY}\n".encode())
        assert terminal.ended() == 0
        assert "its key ends with 9f3a" in terminal.shown
        assert KEY not in terminal.shown
    assert listed(tmp_path) == [
        {"name": "mouth", "has_key": True, "key_ends_with": "9f3a", "default_for": [], "voice": "her"}
    ]


def test_what_does_not_fit_is_said_in_a_sentence(tmp_path: Path) -> None:
    where = ("--data", tmp_path / "data")
    assert "key: is required" in refused(tmp_path, "providers", "set", "ours", "--kind=deepgram", *where)
    wrong = ("--kind=openai", "--roles=hearing,dancing")
    assert "'thinking' or 'speaking'" in refused(tmp_path, "providers", "set", "ours", *wrong, *where)
    at_home = ("--kind=openai", "--url=http://127.0.0.1:9/v1", "--no-key")
    assert "plain HTTP" in refused(tmp_path, "providers", "set", "ours", *at_home, *where)
    opened = run(tmp_path, "providers", "set", "ours", *at_home, *where, CALLWRIGHT_WEBHOOK_NETWORKS="localhost")
    assert opened.stdout == "ours is set: openai, for hearing, thinking, speaking; without a key\n", opened.stderr


def test_keys_move_to_another_secrets_key(tmp_path: Path) -> None:
    piped(tmp_path, "ours", "--kind=openai", CALLWRIGHT_SECRETS_KEY=FIRST)
    moving = ("providers", "encrypt", "--data", tmp_path / "data")
    lost = run(tmp_path, *moving, CALLWRIGHT_SECRETS_KEY=SECOND)
    assert (lost.returncode, "The key of ours cannot be read" in lost.stderr) == (1, True)
    moved = run(tmp_path, *moving, CALLWRIGHT_SECRETS_KEY=f"{SECOND},{FIRST}")
    assert (moved.returncode, moved.stdout) == (0, "1 key is encrypted with the first secrets key.\n")
    again = run(tmp_path, *moving, "--json", CALLWRIGHT_SECRETS_KEY=SECOND)
    assert json.loads(again.stdout) == {"encrypted": 1, "unreadable": []}


def test_a_secrets_key_that_is_none_is_named_and_not_repeated(tmp_path: Path) -> None:
    told = refused(tmp_path, "providers", "encrypt", CALLWRIGHT_SECRETS_KEY="no-key-at-all")
    assert "CALLWRIGHT_SECRETS_KEY" in told
    assert "openssl rand -base64 32" in told
    assert "no-key-at-all" not in told
