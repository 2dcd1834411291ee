"""What a preview says a campaign costs at most holds, however dear the calls turn out.

Campaigns of many kinds, drawn by a seed and steered to what costs most: mailboxes that answer, calls that are cut short
and tried again, people who ask to be called back, people who talk for as long as they may.
"""

import re
from decimal import Decimal
from random import Random
from typing import Any

import pytest

from callwright.contract.declaration.field_types import Spend
from callwright.contract.deployments.deployments import Deployment
from callwright.contract.deployments.dialling import RetryPolicy, RetryReason, Voicemail
from callwright.contract.deployments.previews import Preview
from tests.support.campaigns import draft, ended_by_workers, make_agent, people
from tests.support.service import Tenant

SEEDS = range(12)
REASONS: list[RetryReason] = ["no_answer", "busy", "failed", "voicemail", "short_call", "rejected"]
MESSAGE = "Hello {{first_name}}, this is a message that takes its time. " * 32
TALK = "|".join(["I have a great deal to say about that, and I will say all of it, slowly and twice over"] * 10)


def at_most(preview: Preview) -> Decimal:
    """The money that the sentence names: each amount of it may be spent."""
    amounts = re.findall(r"(\d+\.\d+) USD", preview.summary)
    assert amounts, preview.summary
    return sum((Decimal(amount) for amount in amounts), Decimal())


def dear_rows(draw: Random) -> list[dict[str, Any]]:
    kinds: list[dict[str, str]] = [
        {"sim_outcome": "voicemail"},
        {"sim_outcome": "voicemail_left"},
        {"sim_outcome": "answered", "sim_intent": "later"},
        {"sim_outcome": "answered", "sim_script": TALK},
        {"sim_outcome": "answered", "sim_intent": "silent"},
    ]
    return [row for index in range(draw.randint(1, 12)) for row in people(1, first=index, **draw.choice(kinds))]


async def dear_campaign(tenant: Tenant, draw: Random) -> Deployment:
    cap = draw.choice([None, None, "0.03", "0.10", "0.30"])
    agent = await make_agent(tenant, "Talker", welcome_message=MESSAGE)
    return await draft(
        tenant,
        dear_rows(draw),
        agent_id=agent.id,
        retry_policy=RetryPolicy(
            max_attempts=draw.choice([1, 2, 5]),
            retry_on=REASONS,
            short_call_seconds=draw.choice([10, 60]),
            interval_minutes=[10],
            max_attempts_per_day=5,
        ),
        voicemail=Voicemail(action=draw.choice(["leave_message", "hangup", "continue"]), message_template=MESSAGE),
        max_call_duration_seconds=draw.choice([30, 300, 600]),
        max_concurrency=draw.choice([1, 3, 10]),
        budget_cap=None if cap is None else Spend(amount=cap),
    )


@pytest.mark.parametrize("seed", SEEDS)
async def test_no_campaign_costs_more_than_its_preview_says_at_most(seed: int, tenant: Tenant) -> None:
    campaign = await dear_campaign(tenant, Random(seed))
    preview = await tenant.client.deployments.preview(id=campaign.id)
    await tenant.client.deployments.start(id=campaign.id, plan_id=preview.plan_id)
    ended = await ended_by_workers(tenant, campaign.id)
    spent = Decimal(ended.stats.spend.amount)
    assert spent > 0
    assert spent <= at_most(preview), preview.summary
    assert spent <= Decimal(preview.cost.high.amount)
