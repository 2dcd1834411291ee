"""Counts of people who opted out do not tell the hidden digits of one of them."""

import pytest

from callwright.tools.numbers.number_guesses import MOST_ALIKE_ADDED
from tests.support.campaigns import make_agent, people, rent, run
from tests.support.mcp.over_http import WAYS, Served

HIDDEN = "+14318000177"


@pytest.mark.service(workers=True)
async def test_previews_of_guessed_numbers_find_nobody_who_opted_out_however_often_a_key_connects(
    served: Served,
) -> None:
    (opts_out,) = people(1, sim_outcome="answered", sim_intent="opt_out")
    guesses = [f"+1431{exchange}0177" for exchange in range(800 - MOST_ALIKE_ADDED, 801)]
    await run(served.tenant, [{**opts_out, "phone_number": HIDDEN}], "first")
    agent, number = await make_agent(served.tenant, "Bea"), await rent(served.tenant)
    key = await served.personal_key("builder")
    async with served.assistant(key.secret) as hand:
        rows = [{"phone_number": guess, "first_name": "Ada"} for guess in guesses[:-1]]
        audience = await hand.use("create_audience", name="Guesses", rows=rows)
        given = {"agent_id": agent.id, "audience_id": audience["id"], "phone_number_ids": [number.id]}
        draft = await hand.use("create_deployment", name="Guesses", **given)
        seen = await hand.use("preview_deployment", deployment_id=draft["id"])
    assert (seen["eligible"], "do_not_call" in str(seen)) == (MOST_ALIKE_ADDED, False)
    for over, era in WAYS:
        async with served.assistant(key.secret, over=over, era=era) as hand:
            said = await hand.refused("create_audience", name=f"{over} {era}", rows=[{"phone_number": guesses[-1]}])
            assert f"more than {MOST_ALIKE_ADDED} different numbers that look like +1431•••0177" in said
            told = await hand.refused("add_audience_rows", audience_id=audience["id"], rows=[{"phone_number": HIDDEN}])
            assert "Nothing was added" in told
    assert (await served.tenant.client.audiences.list()).pagination.total == 2
