"""Good answers about an organization as a whole: its overview, and an entry of its audit log."""

from callwright.contract.audit_log import AuditEntry
from callwright.contract.declaration.field_types import Money
from callwright.contract.overview import (
    MOST_SHOWN,
    Overview,
    OverviewAgent,
    OverviewAgents,
    OverviewAudience,
    OverviewAudiences,
    OverviewDeployment,
    OverviewDeployments,
    OverviewLimits,
    OverviewNumber,
    OverviewNumbers,
    OverviewWallet,
)
from tests.support.tools.finding_samples import AT


def overview() -> Overview:
    """A small organization."""
    return _overview(1, "Clinic", "agt_1")


def largest_overview() -> Overview:
    """As many entries as are shown, each with the longest name and id."""
    return _overview(MOST_SHOWN, "N" * 200, "agt_" + "0" * 24)


def _overview(count: int, name: str, some_id: str) -> Overview:
    return Overview(
        organization=name,
        network="simulated",
        agents=OverviewAgents(total=count * 3, newest=[OverviewAgent(id=some_id, name=name, language="en-US")] * count),
        audiences=OverviewAudiences(
            total=count * 3, newest=[OverviewAudience(id=some_id, name=name, status="ready", people=940_000)] * count
        ),
        phone_numbers=OverviewNumbers(
            total=count * 3,
            newest=[OverviewNumber(id=some_id, number="+12125550100", label=name, answered_by=some_id)] * count,
        ),
        deployments=OverviewDeployments(
            total=count * 3,
            running=count,
            shown=[
                OverviewDeployment(
                    id=some_id,
                    name=name,
                    call_type="outbound",
                    status="paused",
                    status_reason="budget_cap_reached",
                    contacts=940_000,
                    agent=name,
                    audience=name,
                    ended=812_345,
                    reached=700_000,
                    spend=Money(amount="3254.300000", currency="USD"),
                    next_start=AT,
                )
            ]
            * count,
        ),
        calls_under_way=12,
        undecided_reviews=count,
        wallet=OverviewWallet(
            available=Money(amount="98.500000", currency="USD"),
            reserved=Money(amount="1.500000", currency="USD"),
            low_balance=False,
            play_money=True,
        ),
        limits=OverviewLimits(
            plan="pro",
            concurrent_deployments=25,
            concurrent_calls=50,
            requests_per_second=25,
            recording_retention_days=90,
        ),
    )


def audit_entry() -> AuditEntry:
    """A start with a plan, through a tool."""
    return AuditEntry(
        id="adt_1",
        created_at=AT,
        action="start_deployment",
        subject_id="dep_1",
        actor_id="key_1",
        actor_label="Front desk",
        tool="start_deployment",
        request_id="req_1",
        changes={"plan_id": {"before": None, "after": "pln_1"}, "status": {"before": "draft", "after": "active"}},
    )
