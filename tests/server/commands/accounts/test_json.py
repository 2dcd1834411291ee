"""Commands that print data print it as JSON too, with the same facts and no secret that a table would not show."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands.words import refused, said


def found(home: Path, *words: str) -> Any:
    """What a command prints with `--json`."""
    return json.loads(said(home, *words, "--json"))


def test_organizations_users_and_keys_are_json_for_programs(tmp_path: Path) -> None:
    made = found(tmp_path, "orgs", "create", "acme", "--plan=pro")
    assert (made["name"], made["plan"]) == ("acme", "pro")
    (listed,) = [org for org in found(tmp_path, "orgs", "list") if org["id"] == made["id"]]
    assert listed["balance"] == {"amount": "100.000000", "currency": "USD"}
    assert listed["requests_per_second"] == 25
    assert found(tmp_path, "orgs", "fund", "acme", "--amount=5")["balance"]["amount"] == "105.000000"
    assert found(tmp_path, "orgs", "change", "acme", "--recording-days=7")["recording_days"] == 7

    user = found(tmp_path, "users", "add", "ann@example.com", "--org=acme")
    assert [one["email"] for one in found(tmp_path, "users", "list", "--org=acme") if one["id"] == user["id"]] == [
        "ann@example.com"
    ]

    key = found(tmp_path, "keys", "create", "--org=acme", "--personal", "--spending-cap=25.00", "--label=for tests")
    (shown,) = found(tmp_path, "keys", "list", "--org=acme")
    assert (shown["id"], shown["begins"], shown["label"]) == (key["id"], key["secret"][:16], "for tests")
    assert shown["spending_cap"] == {"amount": "25.000000", "currency": "USD"}
    assert key["secret"] not in said(tmp_path, "keys", "list", "--org=acme", "--json")
    assert not any("hash" in name for name in shown)


def test_what_is_cleared_and_what_doctor_finds_are_json_too(tmp_path: Path) -> None:
    said(tmp_path, "orgs", "create", "acme")
    assert found(tmp_path, "do-not-call", "clear", "--simulated", "--org=acme") == {"cleared": 0}
    report = found(tmp_path, "doctor")
    assert report["healthy"] is True
    assert {"Data", "This machine", "Real calls"} == {section["title"] for section in report["sections"]}


@pytest.mark.requirement("WALLET-07")
def test_a_wallet_is_frozen_and_unfrozen_and_a_call_that_was_not_charged_is_not_refunded(tmp_path: Path) -> None:
    said(tmp_path, "orgs", "create", "acme")
    frozen = [found(tmp_path, "orgs", "freeze", "acme") for _ in range(2)]
    assert [(one["wallet_status"], one["changed"]) for one in frozen] == [("frozen", True), ("frozen", False)]
    assert "the wallet is active" in said(tmp_path, "orgs", "unfreeze", "acme")
    answer = refused(tmp_path, "orgs", "refund", "acme", "--call=cal_1", "--data", tmp_path / "data")
    assert "no call cal_1 was charged to this organization" in answer
