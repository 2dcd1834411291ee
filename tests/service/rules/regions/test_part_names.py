"""States and provinces as people write them, for numbers of another state."""

import pytest

from callwright.service.rules.regions.places import is_state_unclear, place_of
from callwright.service.rules.regions.rule_file import shipped_rules

NEW_YORK, TORONTO, SYDNEY = "+12125550123", "+14165550123", "+61212345678"


def regions(number: str, written: str) -> str:
    """The regions whose rules hold for a person with this number and this cell for the state."""
    found = place_of(shipped_rules(), number, state=written, timezone=None, fallback_zone=None)
    return " ".join(found.regions)


@pytest.mark.parametrize(
    ("written", "code"),
    [
        *[("Calif.", "CA"), ("Cal.", "CA"), ("Fla.", "FL"), ("Mass.", "MA"), ("Tex.", "TX"), ("Penna", "PA")],
        *[("Penn.", "PA"), ("Wash.", "WA"), ("Minn.", "MN"), ("Mich.", "MI"), ("W. Virginia", "WV"), ("W.Va.", "WV")],
        *[("N Carolina", "NC"), ("N. Carolina", "NC"), ("S. Dakota", "SD"), ("So. Dakota", "SD"), ("N.Mex.", "NM")],
        *[("Ore.", "OR"), ("Wis.", "WI"), ("Ill.", "IL"), ("Conn.", "CT"), ("Tenn.", "TN"), ("Okla.", "OK")],
        *[("Ariz.", "AZ"), ("Colo.", "CO"), ("Neb.", "NE"), ("Nev.", "NV"), ("Kans.", "KS"), ("Miss.", "MS")],
        *[("Ark.", "AR"), ("Ala.", "AL"), ("Del.", "DE"), ("Ind.", "IN"), ("Mont.", "MT"), ("Wyo.", "WY")],
        *[
            ("TX - Texas", "TX"),
            ("TX-Texas", "TX"),
            ("Texas (TX)", "TX"),
            ("Los Angeles, CA", "CA"),
            ("CA 90210", "CA"),
        ],
        *[("CA 90210-1234", "CA"), ("Los Angeles, CA 90210", "CA"), ("Florida, USA", "FL"), ("Florida USA", "FL")],
        *[("Washington, DC 20001", "DC"), ("Washington State", "WA"), ("State of Georgia", "GA"), ("US-CA", "CA")],
        *[("New York, NY", "NY"), ("California / CA", "CA"), ("Winston-Salem, NC", "NC"), ("Nuevo M\u00e9xico", "NM")],
    ],
)
def test_a_state_of_the_us_is_understood_as_people_write_it(written: str, code: str) -> None:
    assert regions(NEW_YORK, written) == f"US US-{code}"
    assert not is_state_unclear(shipped_rules(), NEW_YORK, written)


@pytest.mark.parametrize(
    ("written", "code"),
    [
        *[("Colombie-Britannique", "BC"), ("C.-B.", "BC"), ("Nouveau-Brunswick", "NB"), ("N.-B.", "NB")],
        *[
            ("Nouvelle-\u00c9cosse", "NS"),
            ("N.-\u00c9.", "NS"),
            ("N.-E\u0301.", "NS"),
            ("Terre-Neuve-et-Labrador", "NL"),
        ],
        *[("T.-N.-L.", "NL"), ("\u00cele-du-Prince-\u00c9douard", "PE"), ("\u00ce.-P.-\u00c9.", "PE"), ("PEI", "PE")],
        *[("Territoires du Nord-Ouest", "NT"), ("Qu\u00e9.", "QC"), ("P.Q.", "QC"), ("Ont.", "ON"), ("Alta.", "AB")],
        *[
            ("Sask.", "SK"),
            ("Man.", "MB"),
            ("Nfld.", "NL"),
            ("Toronto, ON M5V 2T6", "ON"),
            ("Province de Qu\u00e9bec", "QC"),
        ],
        *[("BC, Canada", "BC"), ("N.W.T.", "NT"), ("Newfoundland & Labrador", "NL")],
    ],
)
def test_a_province_is_understood_in_both_languages_of_canada(written: str, code: str) -> None:
    assert regions(TORONTO, written) == f"CA CA-{code}"


def test_a_part_of_australia_is_understood_with_its_postal_code() -> None:
    assert regions(SYDNEY, "Perth WA 6000, WA") == "AU AU-WA"
    assert regions(SYDNEY, "W. Australia") == "AU AU-WA"


def test_a_cell_that_names_several_parts_means_each_of_them() -> None:
    assert regions(NEW_YORK, "TX/OK") == "US US-TX US-OK"
    assert regions(NEW_YORK, "Ontario, CA") == "US CA CA-ON US-CA"
    assert regions(NEW_YORK, "NE") == "US US-NE"


@pytest.mark.parametrize(
    ("written", "territory", "zone"),
    [
        *[(name, "PR", "America/Puerto_Rico") for name in ("Puerto Rico", "PR", "San Juan, P.R.")],
        *[(name, "GU", "Pacific/Guam") for name in ("Guam", "GU")],
        *[(name, "VI", "America/St_Thomas") for name in ("VI", "U.S. Virgin Islands", "Virgin Islands")],
        ("American Samoa", "AS", "Pacific/Pago_Pago"),
        ("Northern Mariana Islands", "MP", "Pacific/Saipan"),
    ],
)
def test_a_territory_among_the_states_has_its_own_time_zone_and_the_rules_of_the_us(
    written: str, territory: str, zone: str
) -> None:
    rules = shipped_rules()
    found = place_of(rules, NEW_YORK, state=written, timezone=None, fallback_zone=None)
    assert (found.regions, found.calendars) == (("US",), (territory,))
    assert set(found.zones) == {"America/New_York", zone}
    toll_free = place_of(rules, "+18005550123", state=written, timezone=None, fallback_zone=None)
    assert (toll_free.regions, toll_free.zones) == (("US",), (zone,))
    bahamas = place_of(rules, "+12425551234", state=written, timezone=None, fallback_zone=None)
    assert bahamas.regions == ("BS", "US")


@pytest.mark.parametrize("written", ["Calfornia", "active", "USA", "La-Crosse", "Mary", "Ontaria, Cnada"])
def test_what_names_no_state_is_unclear_where_rules_know_parts_of_the_country(written: str) -> None:
    rules = shipped_rules()
    assert all(is_state_unclear(rules, number, written) for number in (NEW_YORK, TORONTO, SYDNEY))
    assert not is_state_unclear(rules, "+491512345678", written)
