"""What an XLSX file (ECMA-376) says of a sheet beside its cells: hidden rows, and formulas without a result.

A spreadsheet program stores the result of a formula beside it. Programs that write workbooks often store none.
"""

import posixpath
import re
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from xml.parsers import expat

from callwright.list_files.unreadable import UnreadableList

_CHUNK_BYTES = 262_144
_OVERLAP = 64
"""Bytes that are looked at again with the next chunk: what is looked for may begin in one and end in the other."""
_MOST_ROWS = 1_048_576
_TELLING = re.compile(rb"hidden|<(?:\w+:)?f[ />]")
_FILLED = re.compile(rb"<(?:\w+:)?[vtf][ />]")
_TRUE = ("1", "true")
_WORKBOOK, _RELATIONS = "xl/workbook.xml", "xl/_rels/workbook.xml.rels"
_DAMAGED = "a sheet of it cannot be read; save the list as XLSX or as CSV again"


@dataclass
class SheetMarks:
    """Which rows of a sheet are hidden, and which formulas have no result."""

    hidden_rows: int = 0
    """How many hidden rows hold anything."""
    formulas: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    """The rows and names of the first cells with a formula without a result, of shown and of hidden rows one each."""
    _hidden: bytearray = field(default_factory=bytearray)

    def is_hidden(self, row: int) -> bool:
        """Whether a row, from 1, is hidden."""
        return row < len(self._hidden) and bool(self._hidden[row])

    def hide(self, row: int) -> None:
        """Keeps that a row is hidden."""
        if 0 < row <= _MOST_ROWS:
            self._hidden.extend(bytes(max(row + 1 - len(self._hidden), 0)))
            self._hidden[row] = 1

    def formula_without_result(self, *, with_hidden: bool) -> str | None:
        """The name of the first cell, such as `C2`, whose formula has no result; None if there is none."""
        return next((cell for row, cell in self.formulas if with_hidden or not self.is_hidden(row)), None)


def parts_by_sheet(file: zipfile.ZipFile) -> dict[str, str]:
    """The part of the file in which each sheet stands, by the sheet's name."""
    targets = {found["Id"]: found["Target"] for found in _all(file, _RELATIONS, "Relationship") if "Target" in found}
    there = set(file.namelist())
    parts: dict[str, str] = {}
    for sheet in _all(file, _WORKBOOK, "sheet"):
        own = next((text for name, text in sheet.items() if name.rpartition(":")[2] == "id"), "")
        part = posixpath.normpath(posixpath.join("/xl", targets.get(own, ""))).lstrip("/")
        if part in there:
            parts.setdefault(sheet.get("name", ""), part)
    return parts


def has_content(file: zipfile.ZipFile, part: str) -> bool:
    """Whether any cell of a sheet holds anything."""
    return _has(file, part, _FILLED)


def marks_of(file: zipfile.ZipFile, part: str) -> SheetMarks:
    """What a sheet says beside its cells.

    Raises:
        UnreadableList: it is damaged.
    """
    marks = SheetMarks()
    if _has(file, part, _TELLING):  # of most sheets the rest would tell nothing, and takes longer
        _parse(file, part, _MarksReader(marks))
    return marks


class _MarksReader:
    """Reads a sheet tag by tag; of its texts no more is in memory than whether there is one."""

    def __init__(self, marks: SheetMarks) -> None:
        self._marks = marks
        self._row = 0
        self._is_hidden = self._is_filled = False
        self._cell, self._type = "", ""
        self._has_formula = self._has_result = False

    def begin(self, name: str, has: dict[str, str], parser: Any) -> None:
        """A tag begins."""
        if name == "c":
            self._cell, self._type = has.get("r", f"in row {self._row}"), has.get("t", "n")
            self._has_formula = self._has_result = False
        elif name == "row":
            self._row = int(has["r"]) if has.get("r", "").isdecimal() else self._row + 1
            self._is_hidden, self._is_filled = has.get("hidden") in _TRUE, False
            if self._is_hidden:
                self._marks.hide(self._row)
        elif name == "f":
            self._has_formula = True
        elif name in ("v", "t"):
            self._is_filled = True
            if self._has_formula:
                self._has_result = self._type == "str"  # the result may be an empty text
                parser.CharacterDataHandler = self._text

    def end(self, name: str, parser: Any) -> None:
        """A tag ends."""
        if name == "c":
            parser.CharacterDataHandler = None
            seen = [self._marks.is_hidden(row) for row, _ in self._marks.formulas]
            if self._has_formula and not self._has_result and self._is_hidden not in seen:
                self._marks.formulas.append((self._row, self._cell))
        elif name == "row" and self._is_hidden and self._is_filled:
            self._marks.hidden_rows += 1

    def _text(self, text: str) -> None:
        self._has_result = self._has_result or bool(text)


def _parse(file: zipfile.ZipFile, part: str, reader: _MarksReader) -> None:
    parser = expat.ParserCreate()
    parser.StartElementHandler = lambda name, has: reader.begin(name.rpartition(":")[2], has, parser)
    parser.EndElementHandler = lambda name: reader.end(name.rpartition(":")[2], parser)
    parser.EntityDeclHandler = _refuse_entity
    try:
        for chunk in _chunks(file, part):
            parser.Parse(chunk, False)
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        raise UnreadableList(_DAMAGED) from error


def _all(file: zipfile.ZipFile, part: str, wanted: str) -> list[dict[str, str]]:
    """What the tags of this name in a part have."""
    found: list[dict[str, str]] = []

    def begin(name: str, has: dict[str, str]) -> None:
        if name.rpartition(":")[2] == wanted:
            found.append(has)

    parser = expat.ParserCreate()
    parser.StartElementHandler = begin
    parser.EntityDeclHandler = _refuse_entity
    try:
        for chunk in _chunks(file, part):
            parser.Parse(chunk, False)
    except (expat.ExpatError, KeyError) as error:
        raise UnreadableList(_DAMAGED) from error
    return found


def _refuse_entity(*_: object) -> None:
    """A few bytes can name an entity of gigabytes. No spreadsheet writes one."""
    raise UnreadableList(_DAMAGED)


def _has(file: zipfile.ZipFile, part: str, pattern: re.Pattern[bytes]) -> bool:
    before = b""
    for chunk in _chunks(file, part):
        looked_at = before + chunk
        if pattern.search(looked_at) or b"\x00" in chunk[:8]:  # in UTF-16 no pattern is found
            return True
        before = looked_at[-_OVERLAP:]
    return False


def _chunks(file: zipfile.ZipFile, part: str) -> Iterator[bytes]:
    try:
        with file.open(part) as opened:
            while chunk := opened.read(_CHUNK_BYTES):
                yield chunk
    except (zipfile.BadZipFile, zlib.error, OSError, EOFError, NotImplementedError, RuntimeError) as error:
        raise UnreadableList(_DAMAGED) from error
