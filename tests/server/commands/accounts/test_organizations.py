"""`callwright orgs` with plans, limits and owners."""

from pathlib import Path

from tests.support.commands.words import refused, said


def row(table: str, name: str) -> list[str]:
    """The words of the line about an organization."""
    (line,) = (line for line in table.splitlines() if name in line)
    return line.split()


def test_a_negotiated_limit_is_said_shown_marked_and_taken_back(tmp_path: Path) -> None:
    said(tmp_path, "orgs", "create", "acme")
    listed = said(tmp_path, "orgs", "list")
    assert {"starter", "5", "5,000", "90"} <= set(row(listed, "acme"))
    assert "negotiated" not in listed
    changed = said(tmp_path, "orgs", "change", "acme", "--plan=pro", "--requests-per-second=40")
    assert "plan pro: 40 requests per second, 50,000 per day, recordings kept 90 days" in changed
    assert "deleted" not in changed
    listed = said(tmp_path, "orgs", "list")
    assert {"pro", "40*", "50,000", "90"} <= set(row(listed, "acme"))
    assert "* negotiated" in listed
    assert "25 requests per second" in said(tmp_path, "orgs", "change", "acme", "--requests-per-second=plan")
    assert {"25", "50,000"} <= set(row(said(tmp_path, "orgs", "list"), "acme"))


def test_whoever_keeps_recordings_shorter_is_told_that_older_ones_go(tmp_path: Path) -> None:
    said(tmp_path, "orgs", "create", "acme")
    shorter = said(tmp_path, "orgs", "change", "acme", "--recording-days=30")
    assert "more than 30 days ago will be deleted for good" in shorter
    assert "deleted" not in said(tmp_path, "orgs", "change", "acme", "--recording-days=365")
    assert "more than 90 days ago will be deleted for good" in said(
        tmp_path, "orgs", "change", "acme", "--recording-days=plan"
    )


def test_a_limit_that_means_nothing_is_refused_by_its_flag(tmp_path: Path) -> None:
    said(tmp_path, "orgs", "create", "acme")
    for flag, words in (
        ("--requests-per-second=0", "--requests-per-second is from 1"),
        ("--requests-per-second=fast", "--requests-per-second is a whole number"),
        ("--requests-per-second=2.5", "--requests-per-second is a whole number"),
        ("--requests-per-day=-1", "--requests-per-day is from 1"),
        ("--requests-per-day=99999999999999999999", "--requests-per-day is from 1"),
        ("--recording-days=0", "--recording-days is from 1"),
        ("--recording-days=", "--recording-days is a whole number"),
        ("--plan=gold", "starter, pro, growth, enterprise"),
        (None, "say what to change"),
    ):
        assert words in refused(tmp_path, "orgs", "change", "acme", *filter(None, [flag]), "--data", tmp_path / "data")
    assert {"starter", "5", "5,000", "90"} <= set(row(said(tmp_path, "orgs", "list"), "acme"))


def test_an_organization_is_the_operators_unless_an_owner_is_named(tmp_path: Path) -> None:
    assert "owned by operator@localhost" in said(tmp_path, "orgs", "create", "one")
    assert "owned by ann@example.com" in said(tmp_path, "orgs", "create", "two", "--owner=ann@example.com")
    said(tmp_path, "orgs", "create", "three", "--owner=Ann@Example.com", "--quiet")
    for name, email in (("one", "operator@localhost"), ("two", "ann@example.com"), ("three", "ann@example.com")):
        assert {email, "owner"} <= set(row(said(tmp_path, "users", "list", f"--org={name}"), "@"))
    data = ("--data", tmp_path / "data")
    assert "no e-mail address" in refused(tmp_path, "orgs", "create", "four", "--owner=ann", *data)
    assert "four" not in said(tmp_path, "orgs", "list")


def test_a_new_secret_of_pre_dial_checks_is_shown_once_and_the_log_does_not_hold_it(tmp_path: Path) -> None:
    said(tmp_path, "orgs", "create", "acme")
    first, second = [said(tmp_path, "orgs", "predial-secret", "acme", "--quiet").strip() for _ in range(2)]
    told = said(tmp_path, "orgs", "predial-secret", "acme")
    assert "not shown again" in told
    assert len({first, second, told.split()[0]}) == 3
    assert first.startswith("whsec_")
    log = said(tmp_path, "audit", "--org=acme")
    assert log.count("predial_secret.renewed") == 3
    assert not any(secret in log for secret in (first, second))
    assert "nobody" in refused(tmp_path, "orgs", "predial-secret", "nobody")
