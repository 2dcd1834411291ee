"""What a cell says about the consent to be called."""

from collections.abc import Mapping
from unicodedata import normalize

from callwright.contract.deployments.dialling import CONSENT_REFUSED
from callwright.list_files.headings import plain_heading

_REFUSED = frozenset(normalize("NFC", word) for word in CONSENT_REFUSED)
_LONGEST = 2 * max(map(len, CONSENT_REFUSED))
"""Longer cells are not looked at; a letter may be two characters."""


def says_no(text: str) -> bool:
    """Whether a cell is a clear no."""
    return len(text) <= _LONGEST and normalize("NFC", text).lower() in _REFUSED


def noes_in(cells: Mapping[str, str]) -> dict[str, str]:
    """The cells that are a clear no, by column, whatever the column is about."""
    return {name: text for name, text in cells.items() if says_no(text)}


def overruled(noes: Mapping[str, str], cells: Mapping[str, str]) -> dict[str, str]:
    """Those of a person's noes that are not in these cells of the same person, by the column of the cells.

    Two files may write the name of a column in two ways.
    """
    like = {plain_heading(name): name for name in cells} if noes.keys() - cells.keys() else {}
    found = {name if name in cells else like.get(plain_heading(name), name): text for name, text in noes.items()}
    return {name: text for name, text in found.items() if not says_no(cells.get(name, ""))}


def twins_of_noes(cells: Mapping[str, str]) -> dict[str, str]:
    """What the noes of a row say about its other columns whose names are read alike, by those columns."""
    said = {plain_heading(name): text for name, text in noes_in(cells).items()}
    twins = {name: said.get(plain_heading(name)) for name, text in cells.items() if not says_no(text)}
    return {name: text for name, text in twins.items() if text is not None}
