"""Files that say hardly anything: reading them would take minutes and give nothing.

A spreadsheet may add a million blank rows, and a list packs to a tenth. What is refused is far beyond either.
"""

from typing import BinaryIO

from callwright.list_files.packed import is_packed, unpacked
from callwright.list_files.reading import MOST_EMPTY_ROWS
from callwright.list_files.unreadable import UnreadableList
from callwright.list_files.workbooks import is_workbook

MOST_BLANK_LINES = MOST_EMPTY_ROWS
"""Blank lines beyond the number of the others. A sheet of Excel has 1,048,576 rows."""
MOST_TIMES = 100
"""How many times its size a file of gzip unpacks to, beyond `LARGE_BYTES`."""
LARGE_BYTES = 256_000_000
_MAGIC_BYTES = 8
_CHUNK_BYTES = 262_144
_SAYS_NOTHING = b' \t\x0b\x0c,;|"\0'
"""What a blank line consists of. In UTF-16 every other byte is zero."""


def look_through(file: BinaryIO) -> None:
    """Reads a file once, as bytes. Workbooks have bounds of their own.

    Raises:
        UnreadableList: it says hardly anything, or is damaged, too large or no list.
    """
    file.seek(0)
    begin = file.read(_MAGIC_BYTES)
    if is_workbook(begin):
        return
    packed = is_packed(begin)
    text = unpacked(file) if packed else file
    text.seek(0)
    size = lines = filled = 0
    held = b""
    while chunk := text.read(_CHUNK_BYTES):
        size += len(chunk)
        if packed and size > max(LARGE_BYTES, MOST_TIMES * file.tell()):
            raise UnreadableList(
                f"it unpacks to more than {MOST_TIMES} times its size, which a list of people does not; send the list "
                "alone"
            )
        said = held + chunk.translate(None, _SAYS_NOTHING)
        held = b"\r" if said.endswith(b"\r") else b""  # LF may follow
        said = said.removesuffix(b"\r")
        if b"\r" in said:
            said = said.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        lines += said.count(b"\n")
        filled += len(said.split())
        if lines - filled > MOST_BLANK_LINES + filled:
            raise UnreadableList(
                f"it has more than {MOST_BLANK_LINES:,} blank lines; delete them, for example by saving the rows of "
                "the list alone"
            )
