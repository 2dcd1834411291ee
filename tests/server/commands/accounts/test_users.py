"""`callwright users`, and whose a key is."""

import re
from pathlib import Path

import pytest

from tests.support.commands.words import refused, said

ACME = "--org=acme"
USER_ID = re.compile(r"usr_\w+")


@pytest.mark.requirement("AUTH-48")
def test_a_user_is_added_listed_and_removed(tmp_path: Path) -> None:
    said(tmp_path, "orgs", "create", "acme")
    quiet = said(tmp_path, "users", "add", "Ann@Example.com", ACME, "--name=Ann Lee", "--quiet").strip()
    assert USER_ID.fullmatch(quiet)
    loud = said(tmp_path, "users", "add", "bob@example.com", ACME, "--role=owner")
    assert "has the role owner in acme" in loud
    listed = said(tmp_path, "users", "list", ACME).splitlines()
    assert [line.split()[0] for line in listed] == [
        "e-mail",
        "operator@localhost",
        "ann@example.com",
        "bob@example.com",
    ]
    assert re.search(rf"Ann Lee +{quiet} +member ", listed[2])
    assert "has left acme" in said(tmp_path, "users", "remove", "ann@example.com", ACME)
    assert quiet not in said(tmp_path, "users", "list", ACME)
    assert quiet in said(tmp_path, "users", "add", "ann@example.com", ACME)


def test_a_key_is_made_for_a_member_and_says_when_the_creator_has_left(tmp_path: Path) -> None:
    said(tmp_path, "orgs", "create", "acme")
    said(tmp_path, "users", "add", "ann@example.com", ACME)
    said(tmp_path, "keys", "create", ACME, "--user=ann@example.com", "--label=hers", "--quiet")
    said(tmp_path, "keys", "create", ACME, "--user=ann@example.com", "--personal", "--label=her-own", "--quiet")
    gone = said(tmp_path, "keys", "create", ACME, "--user=ann@example.com", "--label=old", "--quiet")[:16]
    said(tmp_path, "keys", "revoke", gone)
    said(tmp_path, "keys", "create", ACME, "--label=nobody's", "--quiet")
    listed = said(tmp_path, "keys", "list", ACME)
    assert listed.count("ann@example.com") == 3
    assert "creator left" not in listed
    told = said(tmp_path, "users", "remove", "ann@example.com", ACME)
    assert "Active keys they made there: 2" in told
    listed = said(tmp_path, "keys", "list", ACME)
    states = {label: listed_line(listed, label) for label in ("hers", "her-own", "old", "nobody's")}
    assert {label: "creator left" in line for label, line in states.items()} == {
        "hers": True,
        "her-own": True,
        "old": False,
        "nobody's": False,
    }
    assert "Revoked" in states["old"]
    assert "active" in states["nobody's"].split()
    assert "operator@localhost" in states["nobody's"]
    data = ("--data", tmp_path / "data")
    assert "users add EMAIL" in refused(tmp_path, "keys", "create", ACME, "--user=ann@example.com", *data)
    assert "no user 'zoe@example.com'" in refused(tmp_path, "keys", "create", ACME, "--user=zoe@example.com", *data)


def listed_line(table: str, label: str) -> str:
    """The line about the key with a label."""
    (line,) = (line.rstrip() for line in table.splitlines() if f" {label} " in line)
    return line


def test_the_last_owner_stays_unless_deleted_by_force(tmp_path: Path) -> None:
    said(tmp_path, "orgs", "create", "acme", "--owner=ann@example.com")
    data = ("--data", tmp_path / "data")
    for command in (("remove", "ann@example.com", ACME), ("delete", "ann@example.com")):
        assert "last owner of 'acme'" in refused(tmp_path, "users", *command, *data)
    assert "is deleted" in said(tmp_path, "users", "delete", "ann@example.com", "--force")
    assert "ann@example.com" not in said(tmp_path, "users", "list", ACME)
    assert "--role owner" in refused(tmp_path, "keys", "create", ACME, *data)


def test_what_cannot_be_done_with_users_is_said_in_one_sentence(tmp_path: Path) -> None:
    said(tmp_path, "orgs", "create", "acme")
    data = ("--data", tmp_path / "data")
    assert "is no e-mail address" in refused(tmp_path, "users", "add", "ann", ACME, *data)
    assert "owner, member" in refused(tmp_path, "users", "add", "ann@example.com", ACME, "--role=boss", *data)
    assert "orgs list" in refused(tmp_path, "users", "add", "ann@example.com", "--org=none", *data)
    assert "no user" in refused(tmp_path, "users", "remove", "ann@example.com", ACME, *data)
    assert "no user" in refused(tmp_path, "users", "delete", "ann@example.com", *data)
    said(tmp_path, "users", "add", "ann@example.com", ACME)
    assert "the role member" in refused(tmp_path, "users", "add", "ann@example.com", ACME, *data)


def test_a_refused_addition_leaves_no_user_behind(tmp_path: Path) -> None:
    said(tmp_path, "orgs", "create", "acme")
    data = ("--data", tmp_path / "data")
    refused(tmp_path, "users", "add", "ann@example.com", ACME, "--role=boss", *data)
    assert "no user" in refused(tmp_path, "users", "delete", "ann@example.com", *data)
