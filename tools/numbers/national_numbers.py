"""Cells with a telephone number that has no country code and no leading zero, in columns whose names do not say so."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

from callwright.contract.checks.visible import cleaned
from callwright.tools.numbers.masking import digits_of, is_of_telephones, masked_in
from callwright.tools.numbers.number_repair import E164
from callwright.tools.numbers.plain_digits import whole_number

_CANDIDATE = re.compile(r"\(?[1-9](?:[ ()./\-\u00a0\u2010-\u2015]{0,3}\d){8,10}")
"""Nine to eleven digits: shorter ones are telephone numbers in few countries, but order numbers or dates everywhere."""
_UUID = re.compile(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
_TELLING = 7
"""How many digits of a number identify a person."""
_OF_OTHERS = re.compile(
    r"order|account|konto|customer|kunde|invoice|rechnung|auftrag|bestell|contract|vertrag|polic|ref|iban|zip|plz|postal"
    r"|postleit|sku|article|artikel|ticket|case|member|mitglied|tax|steuer|vat|ssn|amount|betrag|price|preis|date|datum"
    r"|serial|serie|parcel|paket|tracking|pedido|factura|cliente|cuenta|commande|facture|client|compte"
    r"|\bids?\b|\bcodes?\b|\bkeys?\b",
    re.IGNORECASE,
)
"""In the name of a column, these show that its digits are not telephone numbers."""


class ShownRows:
    """The rows of one answer, for checks of a whole column."""

    def __init__(self, entries: Sequence[Any]) -> None:
        self._entries = entries
        self._known: dict[str, bool] = {}

    def has_numbers(self, column: str) -> bool:
        """Whether most cells of the column are written like telephone numbers."""
        if column not in self._known:
            found = [str(cells[column]) for cells in self._cells() if cells.get(column) not in (None, "")]
            numbers = sum(masked_in(cell) != cell for cell in found)
            self._known[column] = 2 * numbers > len(found)
        return self._known[column]

    def _cells(self) -> Iterator[Mapping[str, Any]]:
        for entry in self._entries:
            fields = cast("dict[str, Any]", entry if isinstance(entry, dict) else getattr(entry, "__dict__", {}))
            cells = fields.get("values", fields.get("variables"))
            if isinstance(cells, dict):
                yield cast("dict[str, Any]", cells)


@dataclass(frozen=True)
class RowContext:
    """The context of a cell: the number of the person in the same row, and all rows of the answer."""

    number: str | None
    rows: ShownRows | None = None

    def is_number_cell(self, column: str, text: str) -> bool:
        """Whether a cell is a telephone number of the country of the person's own number.

        If that country is not known, whether most cells of the column are written like telephone numbers.
        """
        if not _may_be_number(column, text):
            return False
        if self.number is not None and E164.fullmatch(self.number):
            return _is_valid(digits_of(text), _country_code(self.number))
        return self.rows is not None and self.rows.has_numbers(column)

    def is_own_number(self, text: str) -> bool:
        """Whether a text without a column is the person's own number, with or without its country."""
        digits = digits_of(text).lstrip("+0")
        return len(digits) >= _TELLING and self.number is not None and self.number.endswith(digits)


def hidden_number(column: str, text: str) -> str | None:
    """The digits of a cell that is masked in such a column, or would be for some number of the person.

    The cell is read as it is shown, without invisible characters. A UUID is not a number, even if it begins with zeros.
    """
    text = cleaned(text).strip()
    if _UUID.fullmatch(text):
        return None
    hidden = masked_in(text, column=column) != text or _may_be_number(column, text)
    return digits_of(text) if hidden else None


def _may_be_number(column: str, text: str) -> bool:
    return _CANDIDATE.fullmatch(whole_number(text)) is not None and not _is_of_others(column)


@lru_cache(maxsize=4_096)
def _is_of_others(column: str) -> bool:
    name = re.sub(r"(?<=[a-z])(?=[A-Z])|_", " ", column)
    return _OF_OTHERS.search(name) is not None and not is_of_telephones(column)


def _country_code(number: str) -> int | None:
    import phonenumbers

    prefixes = (int(number[1 : length + 1]) for length in (1, 2, 3))
    return next((code for code in prefixes if code in phonenumbers.COUNTRY_CODE_TO_REGION_CODE), None)


@lru_cache(maxsize=8_192)
def _is_valid(digits: str, country_code: int | None) -> bool:
    import phonenumbers

    national = phonenumbers.PhoneNumber(country_code=country_code, national_number=int(digits))
    return country_code is not None and phonenumbers.is_valid_number(national)
