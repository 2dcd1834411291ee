"""Nothing in the repository depends on the machine it was written on, or names a place to download from."""

import json
import re

import pytest

from tests.house.tree import ROOT, texts
from tests.support.processes.npm import FOLDERS

# A path below one of these folders, at the start of a word. In an address (`https://host/work/`) it follows a host.
MACHINE_PATH = re.compile(
    r"""(?<![\w.$}>)*?\]-])/(?:home|root|Users|work|workspace|tmp)/[\w.@-]"""
    r"""|[A-Z]:\\Users\\|[.][.]/shared\b|[.]library\b"""
)
REGISTRY = re.compile(
    r"""registry[.]npmjs|npmmirror|files[.]pythonhosted|pypi[.]org/simple|--(?:extra-)?index-url|--find-links"""
    r"""|file:///(?!\W)"""
)


@pytest.mark.parametrize("words", ["see /tmp/x.log", '"/home/ann/x"', "file:/root/a", "cd ../shared", "C:\\Users\\ann"])
def test_a_path_of_a_machine_is_recognised(words: str) -> None:
    assert MACHINE_PATH.search(words)


@pytest.mark.parametrize("words", ["https://example.org/work/a", "client/tmp/x", "GET /v1/opt-outs", "{base}/home/x"])
def test_an_address_or_a_route_is_no_path_of_a_machine(words: str) -> None:
    assert not MACHINE_PATH.search(words)


def test_no_file_names_a_path_of_a_machine() -> None:
    own = "tests/house/test_no_machine_paths.py"
    found = [f"{path}: {line.strip()}" for path, line in _lines() if path != own and MACHINE_PATH.search(line)]
    assert found == []


def test_no_file_names_a_registry() -> None:
    own = "tests/house/test_no_machine_paths.py"
    found = [f"{path}: {line.strip()}" for path, line in _lines() if path != own and REGISTRY.search(line)]
    assert found == []


def test_the_lock_files_hold_no_download_address() -> None:
    requirements = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    assert re.findall(r"\S*://\S*", requirements) == []

    for folder in FOLDERS:
        packages = json.loads((folder / "package-lock.json").read_text(encoding="utf-8"))["packages"]
        assert len(packages) > 1
        assert [name for name, entry in packages.items() if "resolved" in entry] == []


def _lines() -> list[tuple[str, str]]:
    return [(path, line) for path, text in texts() for line in text.splitlines()]
