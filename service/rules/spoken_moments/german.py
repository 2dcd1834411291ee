"""Moments in German."""

import re

from callwright.service.rules.spoken_moments.words import MomentWords, listed

_ABOUT = r"(?:(?:etwa|ungefähr|circa|zirka|ca\.?|rund|so|vielleicht|gut) )*"
_COUNT = (
    r"(?P<n>\d+(?:,\d+)?|einer|einem|einen|eine|ner|ein paar|anderthalb|eineinhalb|zweieinhalb|dreieinhalb|viereinhalb)"
)
_ENDS = (
    r"(?![\d:]|[.,]\d)"
    r"(?! ?(?:%|minuten?\b|stunden?\b|tagen?\b|wochen?\b|euro\b|prozent\b|personen\b|leuten?\b|jahren?\b))"
)
_MONTHS = listed("januar jänner februar feber märz april mai juni juli august september oktober november dezember")
_MONTH = rf"(?P<month>{'|'.join(_MONTHS)})\b"
_WEEKDAY = r"(?:montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonnabend|sonntag)"
_PART = r"(?:früh|morgen|vormittag|mittag|nachmittag|abend)"
_TENS = {"zwanzig": 20, "dreißig": 30, "dreissig": 30, "vierzig": 40, "fünfzig": 50}
_UNITS = listed(
    "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn "
    "achtzehn neunzehn"
)
_NUMBERS = {
    **{word: number for number, word in enumerate(_UNITS)},
    "zwo": 2,
    **_TENS,
    **{
        f"{'ein' if one == 1 else _UNITS[one]}und{word}": tens + one
        for word, tens in _TENS.items()
        for one in range(1, 10)
    },
}
_STEMS = {1: "erst", 3: "dritt", 7: "siebt", 8: "acht"}
_ORDINALS = {
    f"{_STEMS.get(number, word + ('t' if number < 20 else 'st'))}{ending}": number
    for word, number in _NUMBERS.items()
    if 0 < number <= 31
    for ending in ("en", "er", "e")
}
_DAY = rf"(?P<day>\d{{1,2}}\.?|{'|'.join(sorted(_ORDINALS, key=len, reverse=True))})"

GERMAN = MomentWords(
    numbers=_NUMBERS,
    counts={
        **dict.fromkeys(("einer", "einem", "einen", "eine", "ner"), 1),
        "ein paar": 3,
        "anderthalb": 1.5,
        "eineinhalb": 1.5,
        "zweieinhalb": 2.5,
        "dreieinhalb": 3.5,
        "viereinhalb": 4.5,
        **_ORDINALS,
    },
    units_s={"min": 60, "stunde": 3_600, "stündchen": 3_600},
    units_days={"tag": 1, "woche": 7, "monat": 30},
    after=(
        re.compile(rf"\bin {_ABOUT}{_COUNT} (?P<unit>minuten?|stunden?|stündchen|tag(?:en)?|wochen?|monat(?:en)?)\b"),
        re.compile(rf"\b{_COUNT} (?P<unit>minuten?|stunden?|tage?|wochen?|monate?) später\b"),
    ),
    lengths_s={
        re.compile(rf"\bin {_ABOUT}(?:einer|ner) halben stunde\b"): 1_800,
        re.compile(rf"\bin {_ABOUT}(?:einer|ner) viertelstunde\b"): 900,
        re.compile(rf"\bin {_ABOUT}(?:einer|ner) dreiviertelstunde\b"): 2_700,
    },
    days={
        re.compile(r"\bübermorgen\b"): 2,
        re.compile(r"(?<!am )(?<!heute )(?<!guten )(?<!diesen )(?<!jeden )(?<!tag )(?<!woch )\bmorgen\b"): 1,
        re.compile(r"\bheute\b"): 0,
    },
    weekdays=("montag", "dienstag", "mittwoch", "donnerstag", "freitag", "sams", "sonntag"),
    weekday=re.compile(rf"\b(?P<weekday>{_WEEKDAY}){_PART}?s?\b"),
    next_week=re.compile(r"\b(?:nächste[rn]?|kommende[rn]?) woche\b"),
    next_month=re.compile(r"\b(?:nächsten|kommenden) monat\b"),
    months=("janu", "febr", "märz", "apri", "mai", "juni", "juli", "augu", "sept", "okto", "nove", "deze"),
    dates=(
        re.compile(rf"\b{_DAY} ?{_MONTH}"),
        re.compile(r"\b(?P<day>\d{1,2})\. ?(?P<month>\d{1,2})\b(?!:|\.\d{1,2}\.| ?uhr)"),
    ),
    times=(
        re.compile(r"\b(?P<plus>\d{1,2}) (?:minuten )?nach halb (?P<h>\d{1,2})(?P<half_to>)"),
        re.compile(r"\b(?P<minus>\d{1,2}) (?:minuten )?vor halb (?P<h>\d{1,2})(?P<half_to>)"),
        re.compile(r"\bhalb (?P<h>\d{1,2})(?P<half_to>)"),
        re.compile(r"\bviertel nach (?P<h>\d{1,2})(?P<quarter>)"),
        re.compile(r"\b(?:viertel vor|drei ?viertel|3 ?viertel) (?P<h>\d{1,2})(?P<quarter_to>)"),
        re.compile(r"\b(?P<plus>\d{1,2}) (?:minuten )?nach (?P<h>\d{1,2})"),
        re.compile(r"\b(?P<minus>\d{1,2}) (?:minuten )?vor (?P<h>\d{1,2})"),
        re.compile(r"\b(?P<h>\d{1,2}|ein)(?:[:.](?P<m>\d\d))? ?uhr\b(?: (?P<minutes>\d{1,2})\b)?"),
        re.compile(r"\b(?P<h>\d{1,2}):(?P<m>\d\d)\b"),
        re.compile(
            rf"\b(?:um|gegen|ab|nach|vor|bis|zwischen|circa|zirka) {_ABOUT}"
            rf"(?P<h>\d{{1,2}})(?:\.(?P<m>\d\d))?{_ENDS}"
            rf"(?!\. ?(?:{'|'.join(_MONTHS)}|\d))"
        ),
    ),
    parts={
        re.compile(rf"\bvormittags?\b|{_WEEKDAY}vormittag"): (10, "am"),
        re.compile(rf"\b(?:früh|morgens)\b|\b(?:am|diesen|jeden|heute) morgen\b|{_WEEKDAY} ?(?:früh|morgen)\b"): (
            10,
            "am",
        ),
        re.compile(rf"\bnachmittags?\b|{_WEEKDAY}nachmittag"): (15, "pm"),
        re.compile(rf"\bmittags?\b|{_WEEKDAY}mittag"): (12, "pm"),
        re.compile(rf"\babends?\b|{_WEEKDAY}abend"): (18, "pm"),
    },
    excluded=re.compile(
        r"\b(?:nicht|nie)(?: (?:mehr|am|schon|gleich|erst))? "
        rf"(?:heute|morgen|übermorgen|jetzt|diese woche|nächste woche|{_WEEKDAY}s?)\b(?! vor)|"
        rf"\b(?:heute|morgen|{_WEEKDAY})(?: \w+)? (?:geht|passt|kann)(?: es| das)?(?: \w+)? (?:nicht|schlecht)\b|"
        r"\bnicht um \d{1,2}\b|\bguten (?:morgen|abend)\b"
    ),
    limits=re.compile(r"(?<!nicht )(?<!viertel )(?<!\d )(?<!minuten )\bvor (?:\d|halb|dem mittag)"),
    calls=re.compile(
        r"\brufen sie\b|\bruft? (?:mich|uns|bitte|mal|doch|an|am|um|in|morgen|heute|noch|nochmal|wieder|später|dann)\b|"
        r"\brufe (?:mich|uns|bitte|mal|doch) |\b(?:an|zurück|durch)(?:zu)?rufen\b|\bmelden sie sich\b|\bmelde? dich\b|"
        r"\bklingeln sie\b|\b(?:rück)?anruf\b|\brückruf\b|\bversuchen sie es\b|\bangerufen werden\b"
    ),
    not_asked=re.compile(
        r"\bich (?:rufe|ruf|melde|werde|kann|könnte|will|möchte|muss|würde)\b[^,.;!?]*"
        r"\b(?:sie|ihnen|euch|dich|dir|bei ihnen)\b|"
        r"\b(?:warum|wieso|weshalb|weswegen|wann|wer|woher|wohin|wozu|haben sie|hatten sie)\b[^,.;!?]*"
        r"\b(?:ruf\w*|anruf\w*|angerufen)\b"
    ),
    fillers=frozenset(
        listed(
            "nein nee nicht gerade jetzt leider bitte lieber eher besser passt es mir wäre ist am um der den die das "
            "gut dann da geht ginge können wir sprechen vielleicht hm äh tut leid wieder"
        )
    ),
)
