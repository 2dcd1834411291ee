"""Which column of a list holds the telephone numbers where nobody says so, and what a cell is as text.

The words for telephone numbers stand here, in many languages: those that name a column, and those that stand in front
of a number in its cell.
"""

import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache

from callwright.list_files.headings import known_headings, plain_heading
from callwright.list_files.number_texts import plainly_written

USUAL = "phone_number"
"""The column that is looked for where no column looks like one of numbers."""
LOOKED_AT = 50
"""Rows, the first ones, whose columns are looked at."""
MAX_COLUMN_NAME = 100
"""Characters in the name of a column that an audience can be told to read the number from."""
_MOSTLY = 0.8
"""Share of cells that have to be numbers where the name of their column says nothing."""
_HALF = 0.5
_FEWEST_DIGITS, _MOST_DIGITS = 7, 15
_WRITTEN = re.compile(r"\+?[\d\s()./\-\u2010-\u2015\u00a0]+(?:(?:x|ext\.?)\s?\d+)?", re.IGNORECASE)
_TELLING = re.compile(r"\+|\(|0|\d{1,4}[\s./\-]\d")
"""How a number begins that is neither an amount nor an id."""
_DATE = re.compile(r"\d{4}[-./]\d{1,2}[-./]\d{1,2}|\d{1,2}[-./]\d{1,2}[-./](?:\d{2}|\d{4})\b.*")
_KNOWN = known_headings(
    "phone number|phone|mobile|mobile phone|mobile number|mobile phone number|cell|cell phone|cell number|"
    "cellphone|tel|tel no|telephone|telephone number|number|msisdn|contact number|contact phone|contact phone number|"
    "primary phone|phone 1 value|phone 1|phone no|phone mobile|home phone|work phone|business phone|other phone|"
    "mobilephone|homephone|workphone|whatsapp|whatsapp number|contact",
    "telefon|telefonnummer|telefonnr|telefon nr|tel nr|telnr|handy|handynummer|handynr|handy nr|mobil|"
    "mobilnummer|mobiltelefon|rufnummer|telefon mobil|telefon privat|telefon geschaftlich|festnetz|kontakttelefon",
    "telephone|telephone portable|numero de telephone|numero|portable|tel portable|mobile|n de telephone|gsm|"
    "no de telephone|telephone mobile",
    "telefono|telefono movil|movil|celular|numero de telefono|numero|tel movil|telefono celular",
    "telefono|cellulare|numero di telefono|cell|numero|telefono cellulare|tel cellulare",
    "telefone|telemovel|celular|numero de telefone|telefone celular|numero",
    "telefoon|telefoonnummer|mobiel|mobiele telefoon|mobiel nummer|gsm",
    "telefon|numer telefonu|nr telefonu|komorka|telefon komorkowy|nr tel",
    "telefon|telefonnummer|mobil|mobilnummer|mobiltelefon|mobilnr|telefonnr|tlf|tlf nr",
    "puhelin|puhelinnumero|matkapuhelin",
    "telefonni cislo|telefonne cislo|telefonszam|mobiltelefon|numar de telefon|numar telefon",
    "telefon numarasi|cep telefonu|cep|tel no",
    "телефон|номер телефона|мобильныи|мобильныи телефон|моб телефон|номер|телефон моб|номер телефону",
    "τηλεφωνο|κινητο|αριθμος τηλεφωνου",
    "電話番号|電話|携帯電話|携帯|携帯番号|携帯電話番号|モバイル|手机|手机号|手机号码|电话|电话号码|联系电话|전화번호|전화|휴대폰|휴대전화",
    "फोन|फोन नंबर|मोबाइल|मोबाइल नंबर|الهاتف|رقم الهاتف|الجوال|טלפון|נייד|מספר טלפון",
)

_KINDS = known_headings(
    "t|m|p|h|w|c|o|ph|mob|work|home|office|business|private|personal|main|direct|landline|fixed line|callto",
    "fon|privat|dienstlich|geschäftlich|gesch|arbeit|büro|zuhause|zu hause|firma|zentrale|mobilfunk",
    "domicile|maison|bureau|travail|professionnel|pro|privé|perso|personnel|fixe|port|standard",
    "casa|trabajo|oficina|particular|personal|domicilio|fijo|cel|móvil personal",
    "lavoro|ufficio|abitazione|fisso|privato|trabalho|escritório|residencial|comercial|fixo|tlm",
    "thuis|werk|kantoor|vast|dom|praca|biuro|domowy|służbowy|prywatny|stacjonarny|kom",
    "hem|arbete|kontor|hjem|arbejde|arbeid|fasttelefon|puh|koti|työ|toimisto",
    "domů|domov|práce|práca|kancelář|otthon|munkahely|iroda|acasă|serviciu|birou|ev|iş|ofis|sabit",
    "тел|моб|сот|сотовый|дом|домашний|раб|рабочий|работа|офис|τηλ|κιν|σπίτι|εργασία|γραφείο",
    "自宅|会社|勤務先|固定電話|公司|办公室|座机|집|회사|사무실|직장",
    "घर|कार्यालय|هاتف|جوال|المنزل|العمل|المكتب|טל|בית|עבודה|משרד",
)
"""What else than the name of a column may stand in front of a number: what kind of number it is, and no more."""
_LABELS = _KNOWN | _KINDS
_SIGNS = frozenset("☎☏✆📞📱📲🏠🏢💼°")
"""Signs that say no more than these words; the last one is of `N°`."""
_TELLING_SIGNS = frozenset("†‡")
_MOST_WORDS, _WORDS_OF_LABEL = 8, 4
_LONGEST_LABEL = 60


def named_for_numbers(column: str) -> bool:
    """Whether the name of a column says that it holds telephone numbers, in one of many languages."""
    return len(column) <= MAX_COLUMN_NAME and plain_heading(column) in _KNOWN


@lru_cache(maxsize=4_096)
def is_label(text: str) -> bool:
    """Whether a text says no more than what kind of number stands behind it, as `Mobile:`, `Tel. (privat)` and ☎ do.

    False for all other words, such as `do not call`, and for a text that is too long.
    """
    if len(text) > _LONGEST_LABEL or has_telling_sign(text):
        return False
    words = plain_heading(text).split()
    return len(words) <= _MOST_WORDS and _are_labels(words)


def has_telling_sign(text: str) -> bool:
    """Whether a text has a sign, such as a cross, that may say something about the number beside it."""
    return not text.isascii() and any(map(_is_telling, text))


def _is_telling(char: str) -> bool:
    return char in _TELLING_SIGNS or (unicodedata.category(char) == "So" and char not in _SIGNS)


def _are_labels(words: Sequence[str]) -> bool:
    lengths = range(1, min(_WORDS_OF_LABEL, len(words)) + 1)
    return not words or any(" ".join(words[:n]) in _LABELS and _are_labels(words[n:]) for n in lengths)


def column_like(name: str, columns: Iterable[str]) -> str | None:
    """The column of this name, or else one whose name differs in case, accents and blanks only."""
    there, plain = list(columns), plain_heading(name)
    return name if name in there else next((column for column in there if plain_heading(column) == plain), None)


def is_surely_number(text: str) -> bool:
    """Whether a text looks like a telephone number and like nothing else."""
    plain = plainly_written(text)
    return _is_like_number(plain) and _TELLING.match(plain) is not None


def phone_column_of(rows: Sequence[Mapping[str, object]]) -> str:
    """The column that holds the number, by the names and the first rows; `phone_number` where none does."""
    looked_at = rows[:LOOKED_AT]
    names = dict.fromkeys(name for row in looked_at for name in row)
    return phone_column_among(names, looked_at) or USUAL


def phone_column_among(columns: Collection[str], rows: Sequence[Mapping[str, object]]) -> str | None:
    """The column that holds the number; `rows` are some of the list.

    Of the columns that are named for numbers it is the one with most numbers, of equally full ones `phone_number`. If
    none of these has numbers, it is of all others the one with most, if nearly all of its cells look like nothing else.
    """
    named = sorted((column for column in columns if named_for_numbers(column)), key=_unusual)
    counts = {column: _counts(column, rows) for column in columns if len(column) <= MAX_COLUMN_NAME}
    fitting = [column for column in named if counts[column][0] >= _HALF * counts[column][1] and counts[column][0]]
    if fitting:
        return max(fitting, key=lambda column: counts[column][0])
    if not named and (called := _called({plain_heading(column): column for column in columns}, rows)) is not None:
        return called
    others = {column: count for column, count in counts.items() if column not in named}
    telling = [column for column, (_, filled, sure) in others.items() if sure and sure >= _MOSTLY * filled]
    if telling and USUAL not in named:
        return max(telling, key=lambda column: counts[column][2])
    return named[0] if named else None


def from_and_to(columns: Iterable[str], rows: Sequence[Mapping[str, object]]) -> tuple[str, str] | None:
    """The columns `from` and `to` of a list of calls, where nothing tells which of them holds the people to call.

    Of calls that all went out, `to` does; a column that is named for numbers tells too.
    """
    there = {plain_heading(column): column for column in columns}
    both = (there.get("from"), there.get("to"))
    if both[0] is None or both[1] is None or _called(there, rows) is not None:
        return None
    return None if any(map(named_for_numbers, there.values())) else (both[0], both[1])


def _called(there: Mapping[str, str], rows: Sequence[Mapping[str, object]]) -> str | None:
    """The column `to` of a list of calls that all went out."""
    kind = there.get("call type")
    if kind is None or not {"from", "to"} <= there.keys() or not rows:
        return None
    return there["to"] if all(row.get(kind) == "outbound" for row in rows) else None


def _unusual(column: str) -> int:
    return 0 if column == USUAL else 1 if plain_heading(column) == "phone number" else 2


def _counts(column: str, rows: Sequence[Mapping[str, object]]) -> tuple[int, int, int]:
    """How many cells of a column look like numbers, how many hold anything, how many look like nothing else."""
    cells = [text for row in rows if (text := plainly_written(cell_text(row.get(column)) or ""))]
    like = [cell for cell in cells if _is_like_number(cell)]
    return len(like), len(cells), sum(map(is_surely_number, like))


def _is_like_number(text: str) -> bool:
    digits = sum(character.isdigit() for character in text)
    written = _WRITTEN.fullmatch(text[:60]) is not None
    return written and _FEWEST_DIGITS <= digits <= _MOST_DIGITS and _DATE.fullmatch(text) is None


def cell_text(value: object) -> str | None:
    """A JSON value as text; `None` for what has no plain text form."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | int | float):
        return str(value)
    return None
