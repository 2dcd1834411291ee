"""A module has one idea. More than 400 lines are two."""

from tests.house.tree import texts

LIMIT = 400


def test_no_module_is_longer_than_400_lines() -> None:
    lengths = {path: text.count("\n") for path, text in texts() if path.endswith(".py")}
    assert len(lengths) > 20
    assert {path: length for path, length in lengths.items() if length > LIMIT} == {}
