"""Everything that the install pages tell people to write is read as the host reads it, and started or called."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx2 as httpx
import pytest

from callwright.server.settings import read_settings
from callwright.tools.toolsets import PROFILES
from tests.hosts.conftest import Built
from tests.hosts.pages import FOLDER, Block, blocks, pages
from tests.hosts.reading import (
    FILES,
    Server,
    claude_mcp_add,
    code_add_mcp,
    codex_mcp_add,
    gemini_mcp_add,
    words_of,
)
from tests.hosts.starting import Address, seen
from tests.house.tree import ROOT
from tests.support.processes.programs import COMMAND, START_S, run, serving

BLOCKS = list(blocks())
KEY_PROFILE = "analyst"
WITHOUT_A_WAY = "web-assistants.md"
"""The page about hosts that cannot use the server yet."""
PLACE, ELSEWHERE, SERVED = "/path/to/callwright", "https://calls.example.com/v1", "http://127.0.0.1:8080"
CLAUDE_READS = (["claude", "mcp", "list"], ["claude", "mcp", "get", "callwright"])


@dataclass(frozen=True)
class Serves:
    """A service that runs, for what the pages call one: its addresses, and a key of each kind."""

    root: str
    base_url: str
    personal: str
    live: str

    def put_into(self, text: str) -> str:
        """The text with this service in place of the one that the pages speak of."""
        values = {SERVED: self.root, ELSEWHERE: self.base_url, "YOUR_PERSONAL_KEY": self.personal}
        for name, value in {**values, "YOUR_API_KEY": self.live}.items():
            text = text.replace(name, value)
        return text

    @property
    def typed_in(self) -> dict[str, str]:
        """What the environment of a host holds, and what a person types in."""
        keys = {"CALLWRIGHT_KEY": self.personal, "callwright-key": self.personal}
        return {**keys, "CALLWRIGHT_API_KEY": self.live, "callwright-api-key": self.live}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serves]:
    """`callwright serve` with a personal key of the smallest profile, and a key of the organization."""
    home = tmp_path_factory.mktemp("service")
    data = home / "served"
    with serving(home, data) as served:
        create = ("keys", "create", "--quiet", "--data", data)
        personal = run(home, *create, "--personal", "--profile", KEY_PROFILE).stdout.strip()
        live = run(home, *create).stdout.strip()
        assert personal
        assert live
        yield Serves(served.root, served.base_url, personal, live)


def servers(block: Block, serves: Serves | None, built: Built) -> list[Server]:
    """What a block tells a host to start or to call, with the wheel and the service where the page has placeholders."""
    text = block.text.replace(f"{PLACE}/.venv/bin/callwright", COMMAND).replace(PLACE, str(built.wheel))
    text = serves.put_into(text) if serves else text
    typed_in = serves.typed_in if serves else {}
    if block.title != "terminal":
        return [FILES[block.title](text, typed_in)]
    lines = [words_of(line) for line in text.splitlines()]
    found: list[Server] = [claude_mcp_add(words[3:]) for words in lines if words[:3] == ["claude", "mcp", "add"]]
    found += [codex_mcp_add(words[3:], typed_in) for words in lines if words[:3] == ["codex", "mcp", "add"]]
    found += [gemini_mcp_add(words[3:]) for words in lines if words[:3] == ["gemini", "mcp", "add"]]
    return found + [code_add_mcp(words[2:]) for words in lines if words[:2] == ["code", "--add-mcp"]]


def needs_service(block: Block) -> bool:
    return SERVED in block.text or ELSEWHERE in block.text


def tells_a_host(block: Block) -> bool:
    return block.title in FILES or "mcp add" in block.text or "--add-mcp" in block.text


LOCAL = [block for block in BLOCKS if tells_a_host(block) and not needs_service(block)]
WITH_SERVICE = [block for block in BLOCKS if tells_a_host(block) and needs_service(block)]


def offered(server: Server) -> frozenset[str]:
    """The tools that a person may expect of it."""
    if isinstance(server, Address):
        return read_settings({}).tools_of(KEY_PROFILE)
    return read_settings({"CALLWRIGHT_PROFILE": server.env.get("CALLWRIGHT_PROFILE", "")}).tools_of()


def test_each_page_has_a_program_and_each_but_one_an_address() -> None:
    named = {page.name for page in pages()} - {"README.md", WITHOUT_A_WAY}
    assert {block.page for block in LOCAL} == named
    assert {block.page for block in WITH_SERVICE} == named
    assert {block.page for block in WITH_SERVICE if SERVED in block.text} == named - {"claude-desktop.md"}


async def test_a_host_on_this_machine_gets_the_tools_and_play_money(built: Built, tmp_path: Path) -> None:
    named = [server for block in LOCAL for server in servers(block, None, built)]
    assert len(named) >= len(LOCAL)
    for number, server in enumerate(one for at, one in enumerate(named) if one not in named[:at]):
        home = tmp_path / str(number)
        home.mkdir()
        found = await seen(server, home, {"PATH": built.path})
        assert (found.tools, found.wallet["play_money"]) == (offered(server), True), server


@pytest.mark.parametrize("block", WITH_SERVICE, ids=str)
async def test_a_host_with_a_service_elsewhere_gets_its_tools(
    block: Block, built: Built, service: Serves, tmp_path: Path
) -> None:
    for server in servers(block, service, built):
        found = await seen(server, tmp_path, {"PATH": built.path})
        assert found.tools == offered(server)
        assert not (tmp_path / ".callwright").exists()


@pytest.mark.parametrize("header", [{}, {"Authorization": "Bearer svc_mcp_mistyped"}], ids=["no key", "wrong key"])
def test_an_address_is_refused_with_401_as_the_page_says(service: Serves, header: dict[str, str]) -> None:
    assert httpx.post(f"{service.root}/mcp", headers=header, json={}, timeout=START_S).status_code == 401


def test_no_authorization_server_is_named_as_the_page_about_web_assistants_says(service: Serves) -> None:
    path = "/.well-known/oauth-protected-resource/mcp"
    about = httpx.get(f"{service.root}{path}", timeout=START_S)
    assert about.is_success
    assert "authorization_servers" not in about.json()
    assert f"`{path}`" in (FOLDER / WITHOUT_A_WAY).read_text(encoding="utf-8")


def test_a_personal_key_is_refused_by_rest_as_the_page_says(service: Serves) -> None:
    for key, works in ((service.personal, False), (service.live, True)):
        headers = {"Authorization": f"Bearer {key}"}
        answer = httpx.get(f"{service.base_url}/wallet", headers=headers, timeout=START_S)
        assert answer.is_success is works


def terminal_lines() -> dict[str, list[str]]:
    lines = [(str(block), line) for block in BLOCKS if block.title == "terminal" for line in block.text.splitlines()]
    return {f"{where} {line}": words_of(line) for where, line in lines}


def test_every_line_for_a_terminal_is_of_a_kind_that_a_test_here_runs() -> None:
    adding = [[host, "mcp", "add"] for host in ("claude", "codex", "gemini")]
    kinds = (*adding, ["code", "--add-mcp"], ["uvx", "--from", PLACE], ["callwright"], *CLAUDE_READS)
    unknown = [
        line for line, words in terminal_lines().items() if not any(words[: len(kind)] == kind for kind in kinds)
    ]
    assert unknown == []


def test_the_lines_that_start_a_service_and_make_keys_work_one_after_another(tmp_path: Path) -> None:
    own = [words[1:] for words in terminal_lines().values() if words[0] == "callwright"]
    (flags,) = [words[1:] for words in own if words[0] == "serve"]
    assert flags == ["--data", "~/callwright-data"]
    data = tmp_path / "callwright-data"
    with serving(tmp_path, data):
        made = [run(tmp_path, *at_home(words, tmp_path)) for words in own if words[0] != "serve"]
    assert [done.stderr for done in made if done.returncode] == []
    assert [done.stdout[:8] for done in made] == ["svc_mcp_"] * 2


def at_home(words: list[str], home: Path) -> list[str]:
    """The words with `~` as a shell puts it in."""
    return [re.sub("^~", str(home), word) for word in words]


def test_the_line_that_fetches_the_packages_says_the_version(built: Built, tmp_path: Path) -> None:
    (words,) = [words for words in terminal_lines().values() if words[0] == "uvx"]
    command = [str(built.wheel) if word == PLACE else word for word in words]
    env = {"PATH": built.path, "HOME": str(tmp_path)}
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=2 * START_S)
    assert done.stdout.strip() in built.wheel.name, done.stderr
    assert done.returncode == 0


def test_the_host_in_python_prints_the_overview(built: Built, tmp_path: Path) -> None:
    (block,) = [block for block in BLOCKS if block.language == "python"]
    script = tmp_path / block.title
    script.write_text(block.text.replace(PLACE, str(built.wheel)), encoding="utf-8")
    env = {**os.environ, "PATH": built.path, "HOME": str(tmp_path)}
    done = subprocess.run([sys.executable, script], env=env, capture_output=True, text=True, timeout=2 * START_S)
    assert "'play_money': True" in done.stdout, done.stderr


def test_every_block_is_tested() -> None:
    known = {*FILES, "terminal", "host.py"}
    assert [str(block) for block in BLOCKS if block.title not in known] == []


@pytest.mark.parametrize("profile", PROFILES)
def test_the_pages_count_the_tools_of_a_profile_rightly(profile: str) -> None:
    count = len(read_settings({}, profile=profile).tools_of())
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages())
    assert f"| `{profile}` | {count} |" in text
    assert set(re.findall(rf"`{profile}` \((\d+)(?: tools)?\)", text)) <= {str(count)}


def test_every_profile_but_the_largest_fits_into_cursor() -> None:
    fitting = [name for name in PROFILES if len(read_settings({}, profile=name).tools_of()) <= 40]
    assert fitting == ["analyst", "operator", "builder"]


def test_links_of_the_pages_lead_somewhere() -> None:
    links = [
        (page, target)
        for page in pages()
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8"))
    ]
    assert len(links) > 10
    assert [target for page, target in links if not (page.parent / target).exists()] == []


def test_files_and_variables_that_the_pages_name_exist() -> None:
    text = "\n".join(page.read_text(encoding="utf-8") for page in sorted(FOLDER.glob("*.md")))
    assert [name for name in re.findall(r"`(scripts/\w+)`", text) if not (ROOT / name).exists()] == []
    documented = (ROOT / "docs" / "reference" / "settings.md").read_text(encoding="utf-8")
    assert {name for name in re.findall(r"CALLWRIGHT_[A-Z_]+", text) if name not in documented} == {"CALLWRIGHT_KEY"}
