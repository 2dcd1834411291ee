"""The page on compliance names each word that is a clear no."""

from pathlib import Path

from callwright.contract.deployments.dialling import CONSENT_REFUSED

PAGE = Path(__file__).parents[2] / "docs" / "compliance.md"


def test_each_word_that_is_a_clear_no_stands_on_the_page() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert [word for word in CONSENT_REFUSED if f"`{word}`" not in page] == []
