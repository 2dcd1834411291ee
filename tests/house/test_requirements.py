"""Every requirement has a test that names it, and every name is one of a requirement."""

import re
from pathlib import Path

import pytest

from tests.requirements.manifest import FILES, Proof, Requirement, proofs, read, requirements_page


def module(folder: Path, text: str) -> list[Proof]:
    """What the tests of a module prove."""
    (folder / "test_one.py").write_text(text, encoding="utf-8")
    return proofs(folder)


def test_ids_and_sentences_have_their_form() -> None:
    required = read()
    form = re.compile(rf"(?:{'|'.join(FILES.values())})-\d\d")
    assert [name for name in required if not form.fullmatch(name)] == []
    for entry in required.values():
        assert entry.text.endswith("."), entry.id
        assert "\n" not in entry.text, entry.id
    texts = [entry.text for entry in required.values()]
    assert len(set(texts)) == len(texts)


def test_every_requirement_that_is_not_for_later_has_a_test() -> None:
    proven = {proof.requirement for proof in proofs()}
    assert [entry.id for entry in read().values() if entry.later is None and entry.id not in proven] == []


def test_every_mark_names_a_requirement() -> None:
    required = read()
    assert [proof for proof in proofs() if proof.requirement not in required] == []


def test_marks_are_found_on_functions_parameters_classes_and_modules(tmp_path: Path) -> None:
    found = module(
        tmp_path,
        """
import pytest
pytestmark = pytest.mark.requirement("A-01")

@pytest.mark.requirement("A-02", "A-03")
async def test_a(): ...

@pytest.mark.parametrize("x", [pytest.param(1, marks=pytest.mark.requirement("A-04")), 2])
def test_b(x): ...

@pytest.mark.requirement("A-05")
class TestC:
    def test_d(self): ...

def not_a_test(): ...
""",
    )
    assert {(proof.test, proof.requirement) for proof in found} == {
        ("test_a", "A-01"),
        ("test_a", "A-02"),
        ("test_a", "A-03"),
        ("test_b", "A-01"),
        ("test_b", "A-04"),
        ("TestC::test_d", "A-01"),
        ("TestC::test_d", "A-05"),
    }
    assert {proof.path for proof in found} == {"test_one.py"}


@pytest.mark.parametrize(
    "text",
    [
        '@pytest.mark.requirement("A-01")\ndef helper(): ...\n',
        'pytestmark = [pytest.mark.requirement("A-01")]\n',
        "@pytest.mark.requirement(ID)\ndef test_a(): ...\n",
        "@pytest.mark.requirement()\ndef test_a(): ...\n",
        'def test_a():\n    pytest.mark.requirement("A-01")\n',
    ],
)
def test_a_mark_that_proves_nothing_is_an_error(tmp_path: Path, text: str) -> None:
    with pytest.raises(ValueError, match=r"^test_one\.py:[12]: "):
        module(tmp_path, text)


def test_a_file_with_an_unknown_field_or_reason_is_an_error(tmp_path: Path) -> None:
    for stem in FILES:
        (tmp_path / f"{stem}.toml").write_text('section = "S"\n', encoding="utf-8")
    assert read(tmp_path) == {}
    for wrong in ('txet = "x"', 'later = "someday"', 'id = "AUTH-02"'):
        text = f'section = "S"\n[AUTH-01]\ntext = "It is so."\n{wrong}\n'
        (tmp_path / "authentication.toml").write_text(text, encoding="utf-8")
        with pytest.raises(ValueError, match="AUTH-01"):
            read(tmp_path)
    twice = 'section = "S"\n[AUTH-01]\ntext = "It is so."\n'
    for stem in ("authentication", "errors"):
        (tmp_path / f"{stem}.toml").write_text(twice, encoding="utf-8")
    with pytest.raises(ValueError, match="AUTH-01"):
        read(tmp_path)
    (tmp_path / "more.toml").write_text(twice, encoding="utf-8")
    with pytest.raises(ValueError, match="more"):
        read(tmp_path)


def test_the_page_tells_what_is_proven_what_is_open_and_what_waits() -> None:
    entries = [
        Requirement("A-01", "First", "One.", False, None),
        Requirement("A-02", "First", "Two.", True, None),
        Requirement("B-01", "Second", "Three.", True, "dialling"),
    ]
    page = requirements_page({entry.id: entry for entry in entries}, [Proof("x/test_y.py", "test_z", "A-01")])
    assert "| A-01 | One. | tests/x/test_y.py::test_z |" in page
    assert "| A-02 | *Ours.* Two. | **none** |" in page
    assert "Open: A-02." in page
    assert "| open | 1 | 1 |" in page
    assert page.index("## Part of later work") < page.index("| B-01 | Second | *Ours.* Three. |")
