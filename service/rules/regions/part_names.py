"""The states and provinces as people write them in lists: codes, names, old abbreviations, and cells that hold more."""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from callwright.service.rules.regions.region_rules import RegionRules


def _plain(text: str) -> str:
    letters = unicodedata.normalize("NFKD", text).casefold()
    return "".join(letter for letter in letters if letter.isalnum())


def _plain_names(*lists: str) -> frozenset[str]:
    """Names without accents and signs, from texts in which bars stand between them."""
    return frozenset(_plain(name) for listed in lists for name in listed.split("|"))


_OTHER_NAMES: Mapping[str, str] = {
    "US-AL": "ala",
    "US-AZ": "ariz",
    "US-AR": "ark",
    "US-CA": "calif|cal|californie|kalifornien",
    "US-CO": "colo|col",
    "US-CT": "conn",
    "US-DE": "del",
    "US-DC": "washington dc|dc|d of c|wash dc|washington d of c",
    "US-FL": "fla|floride",
    "US-GA": "georgie",
    "US-HI": "hawái|hawaï|hawai'i",
    "US-ID": "ida",
    "US-IL": "ill|ills",
    "US-IN": "ind",
    "US-KS": "kans|kan",
    "US-LA": "louisiane|luisiana",
    "US-MA": "mass",
    "US-MI": "mich",
    "US-MN": "minn",
    "US-MS": "miss|misisipi",
    "US-MO": "misuri",
    "US-MT": "mont",
    "US-NE": "neb|nebr",
    "US-NV": "nev",
    "US-NH": "n hampshire|n h|nuevo hampshire",
    "US-NJ": "n jersey|nueva jersey|nuevo jersey",
    "US-NM": "n mex|n mexico|new mex|nuevo mexico|nouveau mexique",
    "US-NY": "n york|nueva york|nys",
    "US-NC": "n car|n carolina|no carolina|carolina del norte|caroline du nord",
    "US-ND": "n dak|n dakota|no dakota|dakota del norte|dakota du nord",
    "US-OK": "okla",
    "US-OR": "ore|oreg",
    "US-PA": "penn|penna|pensilvania|pennsylvanie",
    "US-RI": "r island|rhode is",
    "US-SC": "s car|s carolina|so carolina|carolina del sur|caroline du sud",
    "US-SD": "s dak|s dakota|so dakota|dakota del sur|dakota du sud",
    "US-TN": "tenn",
    "US-TX": "tex|tejas",
    "US-VT": "verm",
    "US-VA": "virg|virginie",
    "US-WA": "wash|wa state",
    "US-WV": "w va|w virg|w virginia|west va|virginia occidental|virginie occidentale",
    "US-WI": "wis|wisc",
    "US-WY": "wyo",
    "CA-AB": "alta|alb",
    "CA-BC": "b col|brit columbia|british colombia|colombie britannique|c b",
    "CA-MB": "man|manit",
    "CA-NB": "n brunswick|new bruns|nouveau brunswick",
    "CA-NL": "newfoundland|labrador|newfoundland & labrador|nfld|nf|nflab|terre neuve|terre neuve et labrador|t n l",
    "CA-NS": "n scotia|nova sc|nouvelle ecosse",
    "CA-NT": "nwt|northwest terr|nw territories|territoires du nord ouest|t n o",
    "CA-NU": "nvt",
    "CA-ON": "ont",
    "CA-PE": "pei|p e island|prince edward is|ile du prince edouard|i p e",
    "CA-QC": "que|pq",
    "CA-SK": "sask",
    "CA-YT": "yk|yuk|yn|yukon territory|territoire du yukon",
    "AU-ACT": "a cap territory|aust capital territory",
    "AU-NSW": "n s wales|new s wales",
    "AU-NT": "n territory|north territory",
    "AU-QLD": "queensl",
    "AU-SA": "s australia|south aust|s aust",
    "AU-TAS": "tasm",
    "AU-VIC": "vict",
    "AU-WA": "w australia|west australia|western aust|w aust",
}
"""Other names of parts of countries, compared without case, accents, blanks and signs."""
_TERRITORIES: Mapping[str, str] = {
    "US-PR": "pr|puerto rico|porto rico",
    "US-VI": "vi|usvi|virgin islands|us virgin islands|united states virgin islands|virgin is|us virgin is",
    "US-GU": "gu|guam",
    "US-AS": "as|american samoa|am samoa",
    "US-MP": "mp|cnmi|northern mariana islands|northern marianas|n mariana islands",
}
"""Territories that lists have among the states. They are no part with rules of its own."""
_ONLY_AS_WRITTEN: Mapping[tuple[str, str], str] = {
    ("CA", written): "CA-NS" for written in ("né", "n.é.", "n.-é.", "n.-e.", "n-é")
}
"""Nova Scotia in French, which without accent and hyphen would be Nebraska."""
_COUNTRIES = _plain_names(
    "us|usa|united states|united states of america|the united states|america|etats unis|estados unidos|eeuu|eua|canada",
    "kanada|can|australia|australie|australien|aus",
)
_BEHIND = re.compile(r"\s+(?:usa|u\.s\.a?\.?|us|united states|canada|australia)$", re.IGNORECASE)
_SAYS_NOTHING = _plain_names(
    "na|n a|none|null|nil|nan|unknown|unk|unspecified|undefined|undisclosed|not applicable|not available|not provided",
    "not specified|not set|not known|not given|no state|blank|empty|missing|tbd|other|others|select|select one",
    "select state|please select|unbekannt|keine|keiner|keines|keine angabe|k a|andere|anderer|anderes|sonstige",
    "inconnu|inconnue|aucun|aucune|autre|non renseigne|desconocido|desconocida|ninguno|ninguna|otro|otra|sconosciuto",
    "sconosciuta|nessuno|nessuna|altro|altra|onbekend|geen|anders|overig|desconhecido|desconhecida|nenhum|nenhuma|outro",
    "outra|sonstiges|अज्ञात",
)
"""What a form says that was not filled in."""
_PIECES = re.compile(r"[,;:|/()\[\]\n]|\s[-\u2010-\u2015]+\s")


@dataclass(frozen=True)
class Said:
    """What a cell says of where a person lives.

    `parts` are the parts of countries that it names, mostly one, and `territories` those that are no part, such as
    `PR`: the person may be in each of them. `unclear`: it says something, which is none of them.
    """

    parts: tuple[str, ...] = ()
    territories: tuple[str, ...] = ()
    unclear: bool = False

    def __bool__(self) -> bool:
        return bool(self.parts or self.territories)


def says_nothing(text: str) -> bool:
    """Whether a cell has no letters, or words such as `unknown` and `n/a`."""
    return not any(map(str.isalpha, text)) or _plain(text) in _SAYS_NOTHING


def said_of_part(rules: RegionRules, countries: tuple[str, ...], text: str) -> Said:
    """What a cell says, if it means a part of one of these countries; of several with that name the first one's."""
    if says_nothing(text):
        return Said()
    found = tuple(dict.fromkeys(_found(rules, countries, text)))
    if not found:
        return Said(unclear=True)
    territories = tuple(code.partition("-")[2] for code in found if code not in rules.regions)
    return Said(tuple(code for code in found if code in rules.regions), territories)


def _found(rules: RegionRules, countries: tuple[str, ...], text: str) -> Iterator[str]:
    """The parts that a text names: as a whole, or in pieces such as `TX - Texas`, `Los Angeles, CA` or `CA 90210`."""
    whole = _named(rules, countries, text) or _named(rules, countries, _without_digits(text))
    if whole is not None:
        yield whole
        return
    for piece in _PIECES.split(text):
        words = _without_digits(piece)
        if not _plain(words) or _plain(words) in _COUNTRIES:
            continue
        code = _named(rules, countries, words) or _named(rules, countries, _BEHIND.sub("", words))
        if code is not None:
            yield code
            continue
        joined = [_named(rules, countries, half) for half in words.split("-")]
        if len(joined) > 1 and all(joined):
            yield from filter(None, joined)


def _without_digits(text: str) -> str:
    """The words of a text without postal codes."""
    return " ".join(word for word in text.split() if not any(map(str.isdigit, word)))


def _named(rules: RegionRules, countries: tuple[str, ...], text: str) -> str | None:
    name, exact = _plain(text), unicodedata.normalize("NFC", "".join(text.split())).casefold()
    for country in countries:
        code = _ONLY_AS_WRITTEN.get((country, exact)) or (_names(rules).get((country, name)) if name else None)
        if code is not None:
            return code
    return None


@lru_cache(maxsize=100)
def _names(rules: RegionRules) -> dict[tuple[str, str], str]:
    """The parts of countries by country and name, or code, without accents and signs. Codes win over names."""
    found: dict[tuple[str, str], str] = {}
    parts = {code: region for code, region in rules.regions.items() if "-" in code}
    for code, other in _TERRITORIES.items():
        if code[:2] in rules.regions:
            found |= {("US", _plain(name)): code for name in (code, *other.split("|"))}
    for code, region in parts.items():
        name = _plain(region.name)
        written = (name, f"{name}state", f"stateof{name}", f"commonwealthof{name}", f"provinceof{name}")
        french = (f"provincede{name}", f"provincedu{name}", f"{name}province")
        others = (_plain(other) for other in _OTHER_NAMES.get(code, "").split("|") if other)
        found |= {(code[:2], form): code for form in (*others, *written, *french)}
    for code in parts:
        country, _, part = code.partition("-")
        found |= {(country, _plain(part)): code, (country, _plain(code)): code}
    return found
