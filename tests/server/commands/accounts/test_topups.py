"""`callwright orgs topup` and `orgs topups` as people run them, with the simulated provider."""

import json
from pathlib import Path

import pytest

from tests.support.commands.words import refused, said

PUBLIC = {"CALLWRIGHT_PUBLIC_URL": "https://voice.example.com"}
STRIPE = {
    "CALLWRIGHT_PAYMENTS": "stripe",
    "CALLWRIGHT_STRIPE_SECRET_KEY": "sk_test_0",
    "CALLWRIGHT_STRIPE_WEBHOOK_SECRET": "whsec_0",
}


@pytest.fixture
def public(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands know the address of the service."""
    monkeypatch.setattr("tests.support.commands.words.run", _with_address)


def _with_address(home: Path, *arguments: str | Path, **settings: str) -> object:
    from tests.support.processes.programs import run

    return run(home, *arguments, **{**PUBLIC, **settings})


@pytest.mark.requirement("TOPUP-01")
@pytest.mark.usefixtures("public")
def test_a_topup_says_its_link_and_how_long_it_is_valid_and_is_listed(tmp_path: Path) -> None:
    said(tmp_path, "orgs", "create", "acme")
    first, valid, link = said(tmp_path, "orgs", "topup", "acme", "--amount=50.00").splitlines()
    topup_id = first.split()[1]
    assert "50.00 USD for acme; play money, nobody pays" in first
    assert valid == "The link is valid for 24 hours:"
    assert link == f"https://voice.example.com/payments/simulated/{topup_id}"
    assert said(tmp_path, "orgs", "topup", "acme", "--amount=7.50", "--quiet").startswith("https://voice.example.com/")
    newest, oldest = said(tmp_path, "orgs", "topups", "acme").splitlines()[1:]
    assert {"7.50", "simulated", "pending"} <= set(newest.split())
    assert {topup_id, "50.00", "pending"} <= set(oldest.split())
    (_, listed) = json.loads(said(tmp_path, "orgs", "topups", "acme", "--json"))
    assert (listed["id"], listed["paid"], listed["amount"]["amount"]) == (topup_id, None, "50.000000")


@pytest.mark.usefixtures("public")
@pytest.mark.parametrize("amount", ["0.99", "0", "-5", "999999.01", "10.005", "1e3x"])
def test_an_amount_that_cannot_be_paid_is_refused_by_its_flag(tmp_path: Path, amount: str) -> None:
    said(tmp_path, "orgs", "create", "acme")
    assert "--amount" in refused(tmp_path, "orgs", "topup", "acme", f"--amount={amount}", "--data", tmp_path / "data")
    assert json.loads(said(tmp_path, "orgs", "topups", "acme", "--json")) == []


def test_without_an_address_for_the_link_nothing_is_made(tmp_path: Path) -> None:
    said(tmp_path, "orgs", "create", "acme")
    told = refused(tmp_path, "orgs", "topup", "acme", "--amount=5.00", "--data", tmp_path / "data")
    assert "start `callwright serve`, or set CALLWRIGHT_PUBLIC_URL" in told
    assert json.loads(said(tmp_path, "orgs", "topups", "acme", "--json")) == []


@pytest.mark.requirement("TOPUP-08")
@pytest.mark.usefixtures("public")
def test_stripe_does_not_take_money_for_play_money(tmp_path: Path) -> None:
    said(tmp_path, "orgs", "create", "acme")
    told = refused(tmp_path, "orgs", "topup", "acme", "--amount=5.00", "--data", tmp_path / "data", **STRIPE)
    assert "the organization has play money, for which nobody pays" in told
    assert "--real-money" in told
    assert json.loads(said(tmp_path, "orgs", "topups", "acme", "--json")) == []


@pytest.mark.requirement("TOPUP-08")
@pytest.mark.usefixtures("public")
def test_a_wallet_of_real_money_starts_at_zero_and_takes_no_play_money(tmp_path: Path) -> None:
    assert "0.00 USD, real money" in said(tmp_path, "orgs", "create", "acme", "--real-money")
    data = ("--data", tmp_path / "data")
    (listed,) = (line for line in said(tmp_path, "orgs", "list").splitlines() if "acme" in line)
    assert "0.00 USD  real money" in listed
    assert "CALLWRIGHT_PAYMENTS=stripe" in refused(tmp_path, "orgs", "topup", "acme", "--amount=5.00", *data)
    assert "`callwright orgs topup`" in refused(tmp_path, "orgs", "fund", "acme", "--amount=5.00", *data)


def test_an_unknown_organization_is_said(tmp_path: Path) -> None:
    assert "callwright orgs list" in refused(tmp_path, "orgs", "topups", "none", "--data", tmp_path / "data")
