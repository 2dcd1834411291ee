"""Words that say that the digits behind them are a telephone number, in the languages of those who write them."""

from functools import lru_cache
from typing import Literal

Label = Literal["telephone", "call"]
"""What the words before some digits say: that they are a telephone's, or that somebody is to be called."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_TELEPHONES = _words(
    "tel tele tél telefon telefono teléfono teléfonos telefone telephone téléphone téléfone telefoon"
    " telefax tlf tfno tfn fono"
    " phone phones telephones ph fon mob mobil mobile mobilfunk móvil movil handy cel cell cellphone cellular cellulare"
    " celular smartphone landline festnetz durchwahl hotline fax gsm whatsapp viber sip sips sms callto msisdn handset"
    " ruf rufnummer rückruf rueckruf ruckruf portable telemóvel тел моб мобильный сотовый телефон факс"
)
_ENDINGS = ("telefon", "teléfono", "telefono", "telephone", "телефон", "телефона", "телефону")
_WITHOUT_BLANKS = ("電話", "电话", "手机", "手機", "携帯", "番号", "号码", "號碼", "联系", "連絡先", "拨打", "撥打")
_NUMBERS = _words("number num numbers nummer numero número numéro номер")
_SUFFIXES = ("nummer", "number", "num", "nr", "no")
_CALLS = _words(
    "call text reach message ring dial rufen ruf anrufen anruf wählen llama llame llamar llámame marca marcar marque"
    " appelle appelez appeler composez звони звоните позвоните позвони набери наберите"
)
_ALONE = _CALLS - _words("call text reach message anruf marca")
"""Those behind which digits are a number without more words."""
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
    "ask from to for at on with is use using try under via and or dial call contact"
    " my his her our your their its the a new old other second right correct direct home work office private mein meine"
    " seine ihre unsere neue die der mi su tu el nuevo mon ma son sa le la мой его её наш"
)


@lru_cache(maxsize=4_096)
def label_of(words: tuple[str, ...]) -> Label | None:
    """What the words directly before some digits say about them. The nearest comes first, all in small letters."""
    for place, word in enumerate(words):
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
