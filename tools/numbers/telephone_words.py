"""Words that mark the digits after them as a telephone number, in several languages."""

from functools import lru_cache
from typing import Literal
from unicodedata import normalize

Label = Literal["telephone", "call", "mobile"]
"""The meaning of the words before some digits: they are a telephone number, they are one if there are nine of them, or
somebody is to be called.
"""
MARKS = "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0900-\u0903\u093a-\u094f"
"""Marks that are part of a word: accents, vowels and points."""


def _words(text: str) -> frozenset[str]:
    return frozenset(normalize("NFC", text).split())


_TELEPHONES = _words(
    "tel tele tél telefon telefono teléfono teléfonos telefone telephone téléphone téléfone telefoon"
    " telefax tlf tfno tfn fono"
    " phone phones telephones ph fon mob mobil mobile mobilfunk móvil movil handy cel cell cellphone cellular cellulare"
    " celular smartphone landline festnetz durchwahl hotline fax gsm whatsapp viber sip sips sms callto msisdn handset"
    " ruf rufnummer rückruf rueckruf ruckruf portable telemóvel telemovel callback"
    " тел моб мобильный сотовый телефон факс mobiel mobiele gsmnummer komórka komórki komorka komórkowy"
    " telefonu telefonie τηλ τηλέφωνο τηλεφωνο τηλεφώνου κινητό κινητο κιν φαξ"
    " फ़ोन फोन मोबाइल मोबाईल टेलीफ़ोन टेलीफोन दूरभाष هاتف الهاتف هاتفي جوال الجوال جوالي تلفون محمول موبايل تليفون"
    " טלפון הטלפון נייד הנייד סלולרי טל"
)
_MOBILES = _words("cep")
"""Words with another meaning in another language, here a postal code of eight digits."""
_ENDINGS = ("telefon", "teléfono", "telefono", "telefone", "telephone", "telefoon", "телефон", "телефона", "телефону")
_WITHOUT_BLANKS = (
    *("電話", "电话", "手机", "手機", "携帯", "番号", "号码", "號碼", "联系", "連絡先", "拨打", "撥打"),
    *("전화", "전화번호", "휴대폰", "휴대폰번호", "휴대전화", "핸드폰", "핸드폰번호", "연락처"),
)
_NUMBERS = _words(
    "number num numbers nummer numero número numéro номер numer numara numarası αριθμός नंबर नम्बर رقم מספר 번호"
)
_SUFFIXES = ("nummer", "number", "num", "nr", "no")
_CALLS = _words(
    "call text reach message ring dial rufen ruf anrufen anruf wählen llama llame llamar llámame marca marcar marque"
    " appelle appelez appeler composez звони звоните позвоните позвони набери наберите"
)
_ALONE = _CALLS - _words("call text reach message anruf marca")
"""Words after which digits are a number without further words."""
_ORDERS_TO = _words("me us him her them back mich uns ihn sie an at on moi nous мне нам")
_BETWEEN = (
    _NUMBERS
    | _ORDERS_TO
    | _words(
        "nr no n is are ist es est under unter auf al a le la au bei home work office private privat business direct"
        " casa trabajo bureau my mobile"
    )
)
_WHOSE = _words(
    "back callback ask from to for at on with is use using try under via and or dial call contact"
    " my his her our your their its the a new old other second right correct direct home work office private mein meine"
    " seine ihre unsere neue die der mi su tu el nuevo mon ma son sa le la мой его её наш"
)
_THINGS = _words(
    "order orders invoice ref reference ticket tracking parcel shipment serial article item sku contract policy booking"
    " reservation transaction receipt batch isbn ean iban barcode auftrag bestellung rechnung konto vertrag artikel"
    " beleg buchung paket sendung vorgang commande facture colis pedido factura reserva ordine fattura"
)
_PEOPLE = _words("account customer client member kunde kunden mitglied cliente cuenta compte case id")
"""A telephone number may follow these too, except after `customer no.` and the like."""
_OF_A_NUMBER = _NUMBERS | _words("nr no id code n")
_OF_OTHERS = (
    "bestell",
    "auftrags",
    "rechnungs",
    "kunden",
    "konto",
    "vertrags",
    "artikel",
    "mitglieds",
    "beleg",
    "buchungs",
)


@lru_cache(maxsize=4_096)
def say_others(words: tuple[str, ...]) -> bool:
    """Whether the words directly before some digits name an order, an invoice and the like."""
    nearest, noun = (*words, "", "")[:2]
    if nearest in _OF_A_NUMBER and (noun in _THINGS or noun in _PEOPLE):
        return True
    return nearest in _THINGS or (nearest.endswith(_SUFFIXES) and nearest.startswith(_OF_OTHERS))


@lru_cache(maxsize=4_096)
def label_of(words: tuple[str, ...]) -> Label | None:
    """The label for some digits by the words directly before them, in lower case, the nearest first."""
    words = tuple(normalize("NFC", word) for word in words)
    for place, word in enumerate(words):
        if word in _MOBILES:
            return "mobile"
        if _is_telephone(word) or (word == "app" and words[place + 1 : place + 2] == ("whats",)):
            return "telephone"
        if word == "me" and words[place + 1 : place + 2] == ("wa",):
            return "telephone"
        if word in _ALONE or (word in _CALLS and set(words[:place]) & _ORDERS_TO):
            return "call"
        if word in _NUMBERS and not any(map(_is_telephone, words[place + 1 : place + 2])):
            return "call" if all(before in _WHOSE for before in words[place + 1 : place + 2]) else None
        if word not in _BETWEEN:
            return None
    return None


def _is_telephone(word: str) -> bool:
    if word in _TELEPHONES or word.endswith(_ENDINGS) or word.endswith(_WITHOUT_BLANKS):
        return True
    return any(word.endswith(end) and word.removesuffix(end) in _TELEPHONES for end in _SUFFIXES)
