"""Which column holds the numbers, by its name and by its cells."""

import pytest

from callwright.list_files.phone_columns import (
    USUAL,
    cell_text,
    column_like,
    from_and_to,
    phone_column_among,
    phone_column_of,
)

NUMBER = "+12125550100"
SPELLINGS = (
    *("phone_number", "phone", "mobile", "cell", "tel", "telephone", "number", "msisdn", "contact_number"),
    *("Phone Number", " MOBILE ", "Contact Number", "Cell phone", "Contact", "MobilePhone", "Phone 1 - Value"),
    *("Telefon", "Telefonnummer", "Handy", "Handy-Nr.", "Rufnummer", "Telefon (mobil)"),
    *("Téléphone", "N° de téléphone", "Portable", "Teléfono", "Móvil", "Celular", "Cellulare", "Telemóvel"),
    *("Telefoonnummer", "Numer telefonu", "Mobilnummer", "Puhelinnumero", "Telefonní číslo", "Cep telefonu"),
    *("Телефон", "Мобильный телефон", "Τηλέφωνο", "電話番号", "手机号码", "휴대폰", "फोन", "رقم الهاتف", "טלפון"),
)


@pytest.mark.parametrize("name", SPELLINGS)
def test_the_column_with_the_number_is_found_by_its_name(name: str) -> None:
    assert phone_column_among(["name", name, "notes"], []) == name


def test_without_rows_the_usual_name_wins_and_else_the_first() -> None:
    assert phone_column_among(["tel", "mobile", "phone_number"], []) == "phone_number"
    assert phone_column_among(["Phone Number", "phone_number"], []) == "phone_number"
    assert phone_column_among(["Phone", "phone"], []) == "Phone"
    assert phone_column_among(["name", "telex", ""], []) is None
    assert phone_column_among([" " * 100 + "phone"], []) is None
    assert phone_column_of([{"name": "Ada"}]) == USUAL


def test_of_several_columns_named_for_numbers_the_fullest_wins() -> None:
    rows = [{"Home Phone": "", "Mobile Phone": NUMBER}, {"Home Phone": "0171 2345678", "Mobile Phone": NUMBER}]
    assert phone_column_of(rows) == "Mobile Phone"
    assert phone_column_of([{"Contact": "Ada Byron", "Phone 1 - Value": NUMBER}]) == "Phone 1 - Value"


def test_a_column_is_found_by_its_cells_where_no_name_says_it() -> None:
    rows = [{"id": f"47{index}", "Kontakt 1": f"0171 23456{index}", "Betrag": "1200,50"} for index in range(10, 30)]
    assert phone_column_of(rows) == "Kontakt 1"


@pytest.mark.parametrize(
    "cell", ["2026-01-31", "31.12.2026", "4711123456", "12", "10115", "1.200,50", "Ada", "DE89 3704 0044 0532 0130 00"]
)
def test_dates_ids_and_amounts_are_no_numbers(cell: str) -> None:
    assert phone_column_of([{"value": cell}] * 5) == USUAL


def test_a_column_is_named_whatever_its_case_and_accents() -> None:
    assert column_like("telefon", ["Name", "Telefon "]) == "Telefon "
    assert column_like("Téléphone", ["Telephone", "Téléphone"]) == "Téléphone"
    assert column_like("phone", ["Telefon"]) is None


@pytest.mark.parametrize(
    ("value", "text"), [("a", "a"), (None, ""), (True, "true"), (False, "false"), (1, "1"), (1.5, "1.5"), ([], None)]
)
def test_a_json_value_has_a_text_form_or_none(value: object, text: str | None) -> None:
    assert cell_text(value) == text


@pytest.mark.parametrize(
    ("more", "column", "asks"),
    [
        ({}, None, True),
        ({"call_type": "inbound"}, None, True),
        ({"call_type": "outbound"}, "to", False),
        ({"phone": "+12025550107"}, "phone", False),
    ],
)
def test_of_both_ends_of_a_call_the_called_one_is_read_if_it_is_known(
    more: dict[str, str], column: str | None, asks: bool
) -> None:
    rows = [{"from": "+12025550100", "to": f"+120255501{number:02d}", **more} for number in range(9)]
    assert (from_and_to(rows[0], rows) == ("from", "to")) is asks
    if column is not None:
        assert phone_column_among(rows[0], rows) == column
