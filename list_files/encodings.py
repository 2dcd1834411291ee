"""In which encoding a text file is written: Unicode where it says so or decodes as such, else a code page.

Nothing in a file names its code page. Scripts other than Latin are told apart by `charset-normalizer`. Code pages of
Latin script share most letters, so the one is taken in which the words look like words, and of those that do equally
well the one that is usual in the country of the numbers.
"""

import codecs
import re
from collections.abc import Sequence
from typing import BinaryIO

from callwright.list_files.unreadable import UnreadableList

_CHUNK_BYTES = 65_536
_SAMPLE_BYTES = 16_384
_UTF_16_SAMPLE = 2_000
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # it begins as that of UTF-16
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CELLS = re.compile(rb"[^\x00-\x1f;,]+")
_WORDS = re.compile(rb"[A-Za-z\x80-\xff]+")
"""Both match long texts in one pass; which of the cells and words are not ASCII is asked afterwards. A vertical bar
ends no cell: it may be the second byte of a Japanese or Chinese letter, which no byte up to 0x3F can be.
"""
_CELL_ENDS = (b"\n", b"\r", b"\t", b";", b",")
_UTF_8_LETTERS = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
_LATIN_LETTERS = re.compile(rb"[\xc3-\xc9][\x80-\xbf]")
"""Two bytes that are a Latin letter in UTF-8, U+00C0 to U+024F. In pages of Latin script few words have such a pair."""
_CALLING_CODES = re.compile(rb"(?:\+|\b00)([1-9]\d{0,2})")
_PAGES: tuple[tuple[str, str, str], ...] = (
    ("cp1250", "PL CZ SK HU SI HR BA RO AL", "48 420 421 36 386 385 387 40 355"),
    ("cp1251", "RU UA BY BG MK RS KZ KG", "7 380 375 359 389 381 996"),
    ("cp1253", "GR CY", "30 357"),
    ("cp1254", "TR AZ", "90 994"),
    ("cp1255", "IL", "972"),
    ("cp1256", "EG SA AE JO IQ SY LB KW BH QA OM YE LY TN DZ MA IR PK", "20 966 971 962 964 963 961 965 973 974 968"),
    ("cp1257", "EE LV LT", "372 371 370"),
    ("cp932", "JP", "81"),
    ("gb18030", "CN", "86"),
    ("cp949", "KR", "82"),
    ("cp950", "TW HK MO", "886 852 853"),
    ("cp874", "TH", "66"),
    ("cp1258", "VN", "84"),
)
"""The code page of Windows in some countries, with their codes (ISO 3166-1) and calling codes; cp1252 in all others."""
_LATIN = ("cp1252", "cp1250", "cp1254", "cp1257", "cp1258")
_LATIN_ELSEWHERE = ("cp1252", "mac_roman", "cp850", "cp1250", "iso8859_2")
_LATIN_PAGES = {*_LATIN, *_LATIN_ELSEWHERE}
_OTHER_SCRIPTS = (
    "cp1251",
    "koi8_r",
    "cp1253",
    "cp1255",
    "cp1256",
    "cp932",
    "euc_jp",
    "gb18030",
    "cp949",
    "big5",
    "cp874",
)
_MOSTLY = 0.6
_NEARLY_ALL = 0.8
_ZEROS = 0.05
_STRANGE = 0.5
"""Strange places for each letter from which on a text is hardly of Latin script."""
_PUNCTUATION = frozenset("“”„‘’‚–—…«»•·€£$°©®™§´`¿¡ºª\u00a0")
_NAMES = {
    "utf-8-sig": "UTF-8",
    "utf-16-le": "UTF-16",
    "utf-16-be": "UTF-16",
    "utf-32-le": "UTF-32",
    "utf-32-be": "UTF-32",
    "mac_roman": "Mac Roman",
    "iso8859_2": "ISO 8859-2",
    "koi8_r": "KOI8-R",
    "euc_jp": "EUC-JP",
    "gb18030": "GB 18030",
    "big5": "Big5",
}


def encoding_of(file: BinaryIO, country: str | None = None) -> str:
    """The name of the codec for a file, which is read from its beginning to its end at most once.

    `country` is where its numbers are from, as ISO 3166-1.

    Raises:
        UnreadableList: some of the file is UTF-8, and some is not.
    """
    file.seek(0)
    begin = file.read(_UTF_16_SAMPLE)
    for bom, codec in _BOMS:
        if begin.startswith(bom):
            return codec
    if (codec := _utf_32(begin) or _utf_16(begin)) is not None:
        return codec
    if _is_utf_8(file):
        return "utf-8"
    cells, codes = _sample(file)
    of_letters = sum(len(letter) for cell in cells for letter in _UTF_8_LETTERS.findall(cell))
    if of_letters > _NEARLY_ALL * _foreign(cells):
        raise UnreadableList(f"it is UTF-8, but line {_bad_line(file):,} is not; save it again as CSV UTF-8")
    usual = _usual_page(country, codes)
    page = _code_page(cells, usual)
    is_latin = page in _LATIN_PAGES or (country is not None and usual in _LATIN)
    if is_latin and (line := _line_in_utf_8(file)):
        raise UnreadableList(
            f"line {line:,} is UTF-8, but line {_bad_line(file):,} is not: two encodings are mixed; write the names of "
            "one of them anew, and save it as CSV UTF-8"
        )
    return page


def encoding_name(codec: str) -> str:
    """The name of a codec for people."""
    return _NAMES.get(codec) or (codec.upper() if codec.startswith("utf") else codec.replace("cp", "code page "))


def _utf_16(begin: bytes) -> str | None:
    """UTF-16 without a mark at its beginning: every other byte of digits and separators is zero."""
    first, second = begin[::2].count(0), begin[1::2].count(0)
    if max(first, second) > _ZEROS * len(begin) and not min(first, second):
        return "utf-16-le" if second else "utf-16-be"
    return None


def _utf_32(begin: bytes) -> str | None:
    """UTF-32 without a mark at its beginning: of four bytes three are zero, as no text in UTF-16 has them."""
    first, second, third, fourth = (begin[place::4].count(0) for place in range(4))
    length = len(begin) // 4
    if length and third == length and second == length and not first:
        return "utf-32-le"
    return "utf-32-be" if length and first == length and second == length and not fourth else None


def _is_utf_8(file: BinaryIO) -> bool:
    file.seek(0)
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        while chunk := file.read(_CHUNK_BYTES):
            decoder.decode(chunk)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _bad_line(file: BinaryIO) -> int:
    file.seek(0)
    for number, text in enumerate(file, 1):
        try:
            text.decode("utf-8")
        except UnicodeDecodeError:
            return number
    return 0


def _line_in_utf_8(file: BinaryIO) -> int:
    """The first line with a cell of which all letters beyond ASCII are Latin ones in UTF-8; 0 if there is none."""
    file.seek(0)
    before = 0
    while chunk := file.read(_CHUNK_BYTES):
        chunk += file.readline(_CHUNK_BYTES)
        for pair in _LATIN_LETTERS.finditer(chunk):
            begin = max(chunk.rfind(mark, 0, pair.start()) for mark in _CELL_ENDS) + 1
            cell = _CELLS.match(chunk, begin)
            if cell is not None and _is_latin_in_utf_8(cell[0]):
                return before + chunk.count(b"\n", 0, begin) + 1
        before += chunk.count(b"\n")
    return 0


def _is_latin_in_utf_8(cell: bytes) -> bool:
    try:
        text = cell.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return all(char.isascii() or char in _PUNCTUATION or "\u00c0" <= char <= "\u024f" for char in text)


def _sample(file: BinaryIO) -> tuple[list[bytes], set[str]]:
    """Cells that are not plain ASCII, and the calling codes of the file's first numbers."""
    file.seek(0)
    cells: list[bytes] = []
    codes: set[str] = set()
    while sum(map(len, cells)) < _SAMPLE_BYTES and (chunk := file.read(_CHUNK_BYTES)):
        chunk += file.readline(_CHUNK_BYTES)  # a letter of two bytes is not cut in two
        cells += _not_ascii(_CELLS, chunk)
        codes.update(code.decode() for code in _CALLING_CODES.findall(chunk[:_SAMPLE_BYTES]))
    return cells[:2_000], codes


def _usual_page(country: str | None, codes: set[str]) -> str:
    for page, countries, calling_codes in _PAGES:
        if country in countries.split() if country else any(_begins(code, calling_codes) for code in codes):
            return page
    return "cp1252"


def _begins(digits: str, calling_codes: str) -> bool:
    return any(digits.startswith(code) for code in calling_codes.split())


def _code_page(cells: Sequence[bytes], usual: str) -> str:
    words = [word for cell in cells for word in _not_ascii(_WORDS, cell) if len(word) > 1]
    if _foreign(words) > _MOSTLY * sum(map(len, words)):
        return _of_other_script(b"\n".join(cells), usual)
    others = [page for page in _LATIN_ELSEWHERE if page != usual]
    choices = [usual, *others] if usual in _LATIN else others
    fitting = [(_strangeness(text), index) for index, page in enumerate(choices) if (text := _decoded(cells, page))]
    strange, index = min(fitting, default=(0, 0))
    # The second byte of a Japanese or Chinese letter may be a Latin one.
    if not fitting or strange > _STRANGE * _foreign(cells):
        return _of_other_script(b"\n".join(cells), usual, otherwise=choices[index])
    return choices[index]


def _of_other_script(sample: bytes, usual: str, otherwise: str = "cp1252") -> str:
    if usual not in _LATIN and _decoded([sample], usual) is not None:
        return usual
    from charset_normalizer import from_bytes  # only for files that are neither Unicode nor of Latin script

    best = from_bytes(sample, cp_isolation=list(_OTHER_SCRIPTS)).best()
    return otherwise if best is None else best.encoding


def _not_ascii(pattern: re.Pattern[bytes], text: bytes) -> list[bytes]:
    return [found for found in pattern.findall(text) if not found.isascii()]


def _foreign(texts: Sequence[bytes]) -> int:
    """How many bytes are not ASCII."""
    return sum(byte > 0x7F for text in texts for byte in text)


def _decoded(cells: Sequence[bytes], page: str) -> str | None:
    try:
        return "\n".join(cell.decode(page) for cell in cells)
    except UnicodeDecodeError:
        return None


def _strangeness(text: str) -> int:
    """How much of a text of Latin script does not look like words: symbols in words, capitals within them."""
    strange = 0
    for before, char, after in zip(f" {text}", text, f"{text[1:]} ", strict=False):
        if char.isalpha():
            foreign = not (char.isascii() and before.isascii())
            strange += foreign and char.isupper() and (before.islower() or (before.isupper() and after.islower()))
        elif char.isascii():
            continue
        elif char not in _PUNCTUATION:
            strange += 2
        elif before.isalpha() and after.isalpha() and char not in "’·":
            strange += 1
    return strange
