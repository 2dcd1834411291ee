"""The content of resources, limited to the text that a model can take at once."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from callwright.list_files import written_cells
from callwright.tools.wording.cleaning import cleaned, with_texts
from callwright.tools.wording.text import shortened

TEXT_BYTES = 80_000
"""The most bytes of text in one read: about 20,000 tokens."""

_CELL_CHARACTERS = 120
_FORMULA_STARTS = tuple("=+-@＝＋－＠")  # some spreadsheets take the wide forms too
_CUTS = (4_000, 1_000, 200, 40)


@dataclass(frozen=True)
class Content:
    """The bytes or the text of a resource. `mime_type` is stated where it is not the template's own."""

    body: str | bytes
    mime_type: str | None = None

    @property
    def size(self) -> int:
        """Its length in bytes."""
        return len(self.body.encode() if isinstance(self.body, str) else self.body)


def json_text(data: dict[str, Any], *, whole_with: str, entries: Mapping[str, Sequence[str]] | None = None) -> Content:
    """Data as JSON. If it is too long its longest texts are cut, and `whole_with` says how to get them in full.

    `entries` are lists of the data that are JSON text already, by name, each entry as `json_entry` writes it.
    """
    text = _dumped(data) if entries is None else _with_entries(data, entries)
    for most in _CUTS:
        if len(text.encode()) <= TEXT_BYTES:
            break
        cut = with_texts(data, partial(shortened, most=most), named=str)
        text = _dumped({**cut, "shortened": f"Texts over {most:,} characters are cut: {whole_with}."})
    return Content(text)


def prose(text: str, *, whole_with: str) -> Content:
    """Text, cut if it is too long; then the last line says how much is left and how to get it."""
    encoded = text.encode()
    if len(encoded) <= TEXT_BYTES:
        return Content(text)
    kept = encoded[: TEXT_BYTES - 200].decode(errors="ignore")
    return Content(f"{kept}\n\n[{len(text) - len(kept):,} more characters: {whole_with}.]\n")


def parts_that_fit(parts: Iterable[str], *, bound: int = TEXT_BYTES - 2_000) -> list[str]:
    """The first parts that fit together with a heading; at least one. Later parts are not read."""
    kept: list[str] = []
    left = bound
    for part in parts:
        left -= len(part.encode()) + 2
        if left < 0 and kept:
            break
        kept.append(part)
    return kept


def csv_lines(rows: Iterable[Sequence[object]]) -> str:
    """Rows as CSV (RFC 4180 quoting, LF). Text from outside is cleaned and cut; no cell can be taken for a formula."""
    return written_cells.csv_lines(([_cell(value) for value in row] for row in rows), end="\n")


def _cell(value: object) -> str:
    text = shortened(cleaned("" if value is None else str(value)), _CELL_CHARACTERS)
    text = written_cells.safe_cell(text)
    return f"'{text}" if text.lstrip().startswith(_FORMULA_STARTS) else text


def json_entry(entry: Mapping[str, Any]) -> str:
    """An entry of a list as in the JSON of a resource."""
    return json.dumps(entry, ensure_ascii=False, indent=3)


def _with_entries(data: dict[str, Any], entries: Mapping[str, Sequence[str]]) -> str:
    text = _dumped({name: [] if entries.get(name) else value for name, value in data.items()})
    for name, written in entries.items():
        whole = ",\n".join(f"  {entry.removesuffix('}')}  }}" for entry in written)
        text = text.replace(f'\n "{name}": []', f'\n "{name}": [\n{whole}\n ]', 1)
    return text


def _dumped(data: dict[str, Any]) -> str:
    return json.dumps(data, ensure_ascii=False, indent=1)
