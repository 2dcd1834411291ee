"""How a list calls a person."""

import pytest

from callwright.list_files.name_columns import LONGEST_NAME, name_of


@pytest.mark.parametrize(
    ("cells", "name"),
    [
        ({"Vorname": " Jürgen ", "Nachname": "Müller", "Ort": "Köln"}, "Jürgen Müller"),
        ({"First Name": "Ada", "Last Name": "", "Account Name": "Big Co"}, "Ada"),
        ({"full_name": "Ada Byron", "first_name": "Ada"}, "Ada Byron"),
        ({"Nombre": "José", "Apellidos": "Muñoz Díaz"}, "José Muñoz Díaz"),
        ({"Prénom": "Zoé", "Nom": "Lefèvre"}, "Zoé Lefèvre"),
        ({"Nom": "Dupré"}, "Dupré"),
        ({"姓": "山田", "名": "太郎"}, "山田 太郎"),
        ({"氏名": "山田太郎"}, "山田太郎"),
        ({"Imię": "Łukasz", "Nazwisko": "Nowak"}, "Łukasz Nowak"),
        ({"Adı": "Ayşe", "Soyadı": "Öztürk"}, "Ayşe Öztürk"),
        ({"ADI SOYADI": "Ayşe Öztürk"}, "Ayşe Öztürk"),
        ({"Ф.И.О.": "Иван Петров"}, "Иван Петров"),
        ({"Ім'я": "Олена", "Прізвище": "Коваль"}, "Олена Коваль"),
        ({"お客様名": "山田太郎"}, "山田太郎"),
        ({"שם פרטי": "נועה", "שם משפחה": "כהן"}, "נועה כהן"),
        ({"Kunde": "Praxis\nDr. Weiß"}, "Praxis Dr. Weiß"),
        ({"name": ""}, None),
        ({"city": "Rome"}, None),
        ({}, None),
        ({"name": "x" * 999}, "x" * LONGEST_NAME),
    ],
)
def test_a_person_is_called_by_the_columns_of_names(cells: dict[str, str], name: str | None) -> None:
    assert name_of(cells) == name
