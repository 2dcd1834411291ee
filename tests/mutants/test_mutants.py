"""The mutants fit the code as it stands."""

import ast

import pytest

from tests.house.tree import PACKAGES, ROOT
from tests.mutants.mutants import Mutant, MutantOutdated, mutants

EACH = pytest.mark.parametrize("mutant", mutants(), ids=lambda mutant: mutant.name)


def test_there_are_fifty_mutants_and_no_two_make_the_same_change() -> None:
    found = mutants()
    assert len(found) == 50
    assert len({(mutant.file, mutant.old, mutant.new) for mutant in found}) == 50


@EACH
def test_the_old_text_stands_once_in_product_code_and_the_new_one_is_python_that_differs(mutant: Mutant) -> None:
    assert mutant.file.split("/")[0] in PACKAGES
    text = (ROOT / mutant.file).read_text(encoding="utf-8")
    changed = mutant.applied_to(text)
    assert ast.dump(ast.parse(changed)) != ast.dump(ast.parse(text))


@EACH
def test_the_tests_that_must_notice_exist(mutant: Mutant) -> None:
    assert mutant.tests
    for named in mutant.tests:
        path, _, test = named.partition("::")
        assert (ROOT / path).exists()
        assert not test or f"def {test}(" in (ROOT / path).read_text(encoding="utf-8")


def test_a_mutant_whose_old_text_is_gone_or_stands_twice_is_outdated() -> None:
    mutant = Mutant(name="x", file="service/x.py", old="a < b", new="a <= b", breaks="", tests=())
    assert mutant.applied_to("if a < b:") == "if a <= b:"
    for text in ("if a > b:", "if a < b or a < b:"):
        with pytest.raises(MutantOutdated):
            mutant.applied_to(text)
