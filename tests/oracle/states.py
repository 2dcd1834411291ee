"""The states of the page: names and time zones, by 49 CFR 71 and the remarks of tzdata's zone.tab."""

STATES: dict[str, dict[str, tuple[str, str]]] = {
    "US": {
        "AL": ("Alabama", "America/Chicago"),
        "AK": ("Alaska", "America/Anchorage America/Adak"),
        "AZ": ("Arizona", "America/Phoenix America/Denver"),
        "AR": ("Arkansas", "America/Chicago"),
        "CA": ("California", "America/Los_Angeles"),
        "CO": ("Colorado", "America/Denver"),
        "CT": ("Connecticut", "America/New_York"),
        "DE": ("Delaware", "America/New_York"),
        "DC": ("District of Columbia", "America/New_York"),
        "FL": ("Florida", "America/New_York America/Chicago"),
        "GA": ("Georgia", "America/New_York"),
        "HI": ("Hawaii", "Pacific/Honolulu"),
        "ID": ("Idaho", "America/Boise America/Los_Angeles"),
        "IL": ("Illinois", "America/Chicago"),
        "IN": ("Indiana", "America/Indiana/Indianapolis America/Chicago"),
        "IA": ("Iowa", "America/Chicago"),
        "KS": ("Kansas", "America/Chicago America/Denver"),
        "KY": ("Kentucky", "America/Kentucky/Louisville America/Chicago"),
        "LA": ("Louisiana", "America/Chicago"),
        "ME": ("Maine", "America/New_York"),
        "MD": ("Maryland", "America/New_York"),
        "MA": ("Massachusetts", "America/New_York"),
        "MI": ("Michigan", "America/Detroit America/Menominee"),
        "MN": ("Minnesota", "America/Chicago"),
        "MS": ("Mississippi", "America/Chicago"),
        "MO": ("Missouri", "America/Chicago"),
        "MT": ("Montana", "America/Denver"),
        "NE": ("Nebraska", "America/Chicago America/Denver"),
        "NV": ("Nevada", "America/Los_Angeles America/Denver"),
        "NH": ("New Hampshire", "America/New_York"),
        "NJ": ("New Jersey", "America/New_York"),
        "NM": ("New Mexico", "America/Denver"),
        "NY": ("New York", "America/New_York"),
        "NC": ("North Carolina", "America/New_York"),
        "ND": ("North Dakota", "America/Chicago America/Denver"),
        "OH": ("Ohio", "America/New_York"),
        "OK": ("Oklahoma", "America/Chicago"),
        "OR": ("Oregon", "America/Los_Angeles America/Boise"),
        "PA": ("Pennsylvania", "America/New_York"),
        "RI": ("Rhode Island", "America/New_York"),
        "SC": ("South Carolina", "America/New_York"),
        "SD": ("South Dakota", "America/Chicago America/Denver"),
        "TN": ("Tennessee", "America/New_York America/Chicago"),
        "TX": ("Texas", "America/Chicago America/Denver"),
        "UT": ("Utah", "America/Denver"),
        "VT": ("Vermont", "America/New_York"),
        "VA": ("Virginia", "America/New_York"),
        "WA": ("Washington", "America/Los_Angeles"),
        "WV": ("West Virginia", "America/New_York"),
        "WI": ("Wisconsin", "America/Chicago"),
        "WY": ("Wyoming", "America/Denver"),
    },
    "CA": {
        "AB": ("Alberta", "America/Edmonton"),
        "BC": (
            "British Columbia",
            "America/Vancouver America/Creston America/Dawson_Creek America/Fort_Nelson America/Edmonton",
        ),
        "MB": ("Manitoba", "America/Winnipeg"),
        "NB": ("New Brunswick", "America/Moncton"),
        "NL": ("Newfoundland and Labrador", "America/St_Johns America/Goose_Bay"),
        "NS": ("Nova Scotia", "America/Halifax"),
        "NT": ("Northwest Territories", "America/Inuvik America/Edmonton"),
        "NU": (
            "Nunavut",
            "America/Iqaluit America/Resolute America/Rankin_Inlet America/Cambridge_Bay America/Atikokan",
        ),
        "ON": ("Ontario", "America/Toronto America/Winnipeg America/Atikokan"),
        "PE": ("Prince Edward Island", "America/Halifax"),
        "QC": ("Quebec", "America/Toronto America/Blanc-Sablon America/Halifax"),
        "SK": ("Saskatchewan", "America/Regina America/Swift_Current America/Edmonton"),
        "YT": ("Yukon", "America/Whitehorse America/Dawson"),
    },
    "AU": {
        "ACT": ("Australian Capital Territory", "Australia/Sydney"),
        "NSW": ("New South Wales", "Australia/Sydney Australia/Broken_Hill Australia/Lord_Howe"),
        "NT": ("Northern Territory", "Australia/Darwin"),
        "QLD": ("Queensland", "Australia/Brisbane Australia/Lindeman"),
        "SA": ("South Australia", "Australia/Adelaide"),
        "TAS": ("Tasmania", "Australia/Hobart"),
        "VIC": ("Victoria", "Australia/Melbourne"),
        "WA": ("Western Australia", "Australia/Perth Australia/Eucla"),
    },
}
"""Country, code, then name and zones."""

OTHER_NAMES = {
    "US": {"washington d.c.": "DC", "washington state": "WA"},
    "CA": {"british colombia": "BC"},
    "AU": {},
}
"""How phonenumbers' geocoder also writes some states."""


def state_named(text: str, *, country: str) -> str | None:
    """The code of a state of the country, from its code or its name in any case of letters."""
    states = STATES.get(country, {})
    said = text.strip()
    if said.upper() in states:
        return said.upper()
    names = {name.lower(): code for code, (name, _) in states.items()} | OTHER_NAMES.get(country, {})
    return names.get(said.lower())


def zones_of_state(country: str, code: str) -> frozenset[str]:
    """All time zones of a state."""
    return frozenset(STATES[country][code][1].split())


_INDIANA = "America/Indiana/Indianapolis America/Chicago"
_BRITISH_COLUMBIA = STATES["CA"]["BC"][1]
_LOWER_ST_LAWRENCE = "America/Toronto America/Blanc-Sablon America/Halifax"
ZONES_OF_AREAS = {
    "208 986": STATES["US"]["ID"][1],
    "219 574 812 930": _INDIANA,
    "270 364 606": STATES["US"]["KY"][1],
    "308": STATES["US"]["NE"][1],
    "423": STATES["US"]["TN"][1],
    "448 850": STATES["US"]["FL"][1],
    "458 541": STATES["US"]["OR"][1],
    "605": STATES["US"]["SD"][1],
    "620 785": STATES["US"]["KS"][1],
    "689": "America/New_York",
    "701": STATES["US"]["ND"][1],
    "775": STATES["US"]["NV"][1],
    "906": STATES["US"]["MI"][1],
    "907": "America/Anchorage America/Adak",
    "928": STATES["US"]["AZ"][1],
    "236 250 257 672 778": _BRITISH_COLUMBIA,
    "306 474 639": STATES["CA"]["SK"][1],
    "367 418 581": _LOWER_ST_LAWRENCE,
    "709 879": STATES["CA"]["NL"][1],
    "807": STATES["CA"]["ON"][1],
    "867": "",
}
"""Area codes of places in several time zones, 867 of more than three, and one that phonenumbers has wrong."""
TERRITORIES = frozenset(zone for code in ("NT", "NU", "YT") for zone in zones_of_state("CA", code))
"""All zones of area code 867."""
_ZONES_OF_AREA = {area: frozenset(zones.split()) for areas, zones in ZONES_OF_AREAS.items() for area in areas.split()}


def zones_of_area(number: str) -> frozenset[str] | None:
    """The zones of a number's area code, none of one that shows none; None if phonenumbers knows them better."""
    return _ZONES_OF_AREA.get(number[2:5]) if number.startswith("+1") else None
