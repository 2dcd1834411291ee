"""A number that really costs money: what the person is asked before it is rented."""

from pathlib import Path

import pytest

from tests.journeys.hosts import Person, host
from tests.support.twilio.imitation import imitated_twilio
from tests.support.twilio.service import calling_through


@pytest.mark.requirement("TWILIO-26")
async def test_a_number_of_twilio_is_rented_once_a_person_agrees_to_its_price_and_a_real_carrier(
    database_url: str, tmp_path: Path
) -> None:
    prices = tmp_path / "prices.toml"
    prices.write_text(
        'version = "1"\nplatform = { minute = 0 }\n'
        '[carriers.twilio]\n"*" = { minute = 15_000, number_month = 1_250_000 }\n'
    )
    async with imitated_twilio() as twilio:
        twilio.offered = {"+12125550151": "Local"}
        person, asked = Person("decline"), {"country": "US", "provider": "twilio", "number": "+12125550151"}
        async with calling_through(twilio, database_url, tmp_path, lines=0, workers=False, prices=prices) as tenant:
            async with host(tenant, tmp_path, "memory", "auto", person, confirm="real") as found:
                assert "number" in await found.refused("rent_phone_number", country="US", provider="twilio")
                await found.refused("rent_phone_number", **asked)
                assert person.asked == [
                    "Rent +12125550151 at Twilio for 1.25 USD a month now and every month until it is released. "
                    "Twilio is a real carrier: it charges for the number, and calls from it really ring."
                ]
                assert twilio.rented == []
                person.answer = "accept"
                assert (await found.data("rent_phone_number", **asked))["status"] == "active"
                assert twilio.rented == ["+12125550151"]
