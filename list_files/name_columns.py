"""How a list calls a person: by the columns that hold names, in many languages."""

from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache

from callwright.list_files.headings import known_headings, plain_heading

LONGEST_NAME = 200
"""Characters of a name that are kept."""
_WHOLE = known_headings(
    "name|full name|fullname|customer name|customer|client name|client|patient name|patient|contact name|contact",
    "person|display name|kunde|kundin|kundenname|ansprechpartner|ansprechpartnerin|patientin|vor und nachname",
    "vorname nachname|vollstandiger name|mitglied|teilnehmer|nom complet|nombre completo|nombre y apellidos|cliente",
    "paciente|nome completo|nome e cognome|nominativo|volledige naam|naam|klant|imie i nazwisko|klient|namn|navn|nimi",
    "jmeno a prijmeni|nev|teljes nev|nume complet|фио|имя и фамилия|ονοματεπωνυμο|氏名|お名前",
    "ad soyad|adı soyadı|adi soyadi|isim soyisim|isim|müşteri|müşteri adı|nazwisko i imię|osoba kontaktowa",
    "ф и о|имя фамилия|фамилия имя|фамилия имя отчество|имя клиента|клиент|контактное лицо|піб|ім'я та прізвище|клієнт",
    "名前|姓名|客户|客户姓名|顧客名|お客様名|担当者名|フルネーム|고객명",
    "ग्राहक का नाम|पूरा नाम|الاسم الكامل|اسم العميل|שם הלקוח|이름|성명|नाम|الاسم|שם|שם מלא",
)
_FIRST = known_headings(
    "first name|firstname|given name|forename|vorname|rufname|prenom|nombre|nome|voornaam|imie|fornamn|fornavn|etunimi",
    "jmeno|krstne meno|keresztnev|prenume|ad|adı|adi|имя|імʼя|ім'я|ονομα|名|שם פרטי|الاسم الأول",
)
_LAST = known_headings(
    "last name|lastname|surname|family name|nachname|familienname|zuname|nom|nom de famille|apellido|apellidos|cognome",
    "apelido|sobrenome|achternaam|nazwisko|efternamn|efternavn|etternavn|sukunimi|prijmeni|priezvisko|vezeteknev",
    "nume de familie|soyad|soyadı|soyadi|soyisim|фамилия|прізвище|επωνυμο|姓|שם משפחה|اسم العائلة",
)
_FAMILY_FIRST = known_headings("姓")


@lru_cache(maxsize=1_024)
def _columns_of_name(columns: frozenset[str]) -> tuple[str, ...]:
    """The columns that make a person's name together, in their order."""
    by_heading = {plain_heading(column): column for column in sorted(columns, reverse=True)}
    first = next((by_heading[heading] for heading in by_heading if heading in _FIRST), None)
    last = next((by_heading[heading] for heading in by_heading if heading in _LAST), None)
    if first is not None and last is not None:
        return (last, first) if plain_heading(last) in _FAMILY_FIRST else (first, last)
    whole = next((by_heading[heading] for heading in by_heading if heading in _WHOLE), None)
    alone = whole or first or last
    return () if alone is None else (alone,)


def name_columns(columns: Collection[str]) -> tuple[str, ...]:
    """The columns that make a person's name together, in their order; none if no column is known to hold it."""
    return _columns_of_name(frozenset(columns))


def joined_name(parts: Iterable[str]) -> str | None:
    """A person's name from the cells of its columns; None if they are empty."""
    return " ".join(" ".join(parts).split())[:LONGEST_NAME] or None


def name_of(cells: Mapping[str, str]) -> str | None:
    """The person's name in a row; None if no column is known to hold it, or it is empty."""
    return joined_name(cells[column] for column in name_columns(cells.keys()))
