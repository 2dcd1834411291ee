"""`callwright orgs`, `keys` and `demo` as people run them, and what they say when something is wrong."""

import re
from pathlib import Path

import pytest

from callwright.service.platform.data_folder import KEY
from tests.support.commands.words import refused, said
from tests.support.processes.programs import run

SECRET = re.compile(r"svc_live_[0-9a-f]{48}")
PERSONAL = re.compile(r"svc_mcp_[0-9a-f]{48}")
KEY_ID = re.compile(r"key_\w+")


@pytest.mark.requirement("AUTH-48")
def test_an_organization_is_made_listed_and_funded(tmp_path: Path) -> None:
    org_id = said(tmp_path, "orgs", "create", "Bright Dental", "--plan=pro", "--quiet").strip()
    assert re.fullmatch(r"org_\w+", org_id)
    (line,) = (line for line in said(tmp_path, "orgs", "list").splitlines() if "Bright Dental" in line)
    assert {org_id, "pro", "100.00"} <= set(line.split())
    assert "150.00 USD of play money" in said(tmp_path, "orgs", "fund", "Bright Dental", "--amount=50.00")
    assert "150.05 USD" in said(tmp_path, "orgs", "fund", org_id, "--amount=0.05")


def test_a_name_is_shown_as_it_was_written(tmp_path: Path) -> None:
    assert "[bold]x[/]" in said(tmp_path, "orgs", "create", "[bold]x[/]")
    assert "[bold]x[/]" in said(tmp_path, "orgs", "list")
    assert "'[red]'" in refused(tmp_path, "keys", "list", "--org=[red]", "--data", tmp_path / "data")


@pytest.mark.requirement("AUTH-03", "AUTH-04", "AUTH-07", "AUTH-48")
def test_a_key_is_shown_whole_once_and_listed_by_its_beginning(tmp_path: Path) -> None:
    quiet = said(tmp_path, "keys", "create", "--quiet", "--label=for tests")
    assert SECRET.fullmatch(quiet.strip())
    loud = said(tmp_path, "keys", "create")
    (other,) = SECRET.findall(loud)
    assert "not shown again" in loud
    listed = said(tmp_path, "keys", "list")
    assert SECRET.search(listed) is None
    assert [secret[:16] in listed for secret in (quiet, other)] == [True, True]
    assert "for tests" in listed
    files = [path for path in (tmp_path / "data").iterdir() if path.is_file()]
    assert files
    assert not any(quiet.strip().encode() in path.read_bytes() for path in files)
    assert KEY not in {path.name for path in files}


def test_a_personal_key_is_made_and_listed_with_its_limits(tmp_path: Path) -> None:
    made = said(tmp_path, "keys", "create", "--personal", "--profile=analyst", "--spending-cap=25.00")
    (secret,) = PERSONAL.findall(made)
    assert "the profile analyst" in made
    plain = said(tmp_path, "keys", "create", "--personal", "--quiet").strip()
    assert PERSONAL.fullmatch(plain)
    listed = {
        line.split()[0]: line.split() for line in said(tmp_path, "keys", "list").splitlines() if "svc_mcp_" in line
    }
    assert {"personal", "analyst", "25.00"} <= set(listed[f"{secret[:16]}…"])
    assert {"personal", "builder"} <= set(listed[f"{plain[:16]}…"])
    assert "is revoked" in said(tmp_path, "keys", "revoke", secret[:16])


def test_limits_of_a_key_that_mean_nothing_are_refused(tmp_path: Path) -> None:
    data = ("--data", tmp_path / "data")
    assert "--personal" in refused(tmp_path, "keys", "create", "--profile=analyst", *data)
    assert "--personal" in refused(tmp_path, "keys", "create", "--spending-cap=5", *data)
    assert "analyst, operator, builder, all" in refused(tmp_path, "keys", "create", "--personal", "--profile=x", *data)
    for cap in ("much", "-1", "1e30", "NaN"):
        assert "--spending-cap" in refused(tmp_path, "keys", "create", "--personal", f"--spending-cap={cap}", *data)


def test_what_people_call_a_thing_is_one_line_that_can_be_seen(tmp_path: Path) -> None:
    said(tmp_path, "orgs", "create", "one")
    made = {
        ("keys", "create", "--org=one", "--label=for\u202etests"): "the label must not contain the character U+202E",
        ("keys", "create", "--org=one", "--label=\u3000 "): "the label must not be blank",
        ("orgs", "create", "Ac\u2028me"): "the name must not contain the character U+2028",
        ("users", "add", "ann@example.com", "--org=one", "--name= "): "the name must not be blank",
    }
    for command, words in made.items():
        assert words in refused(tmp_path, *command, "--data", tmp_path / "data")
    assert "svc_" not in said(tmp_path, "keys", "list", "--org=one")


@pytest.mark.requirement("AUTH-20", "AUTH-48")
def test_a_key_is_revoked_by_the_id_that_the_list_shows(tmp_path: Path) -> None:
    by_identity = said(tmp_path, "keys", "create", "--quiet")[:16]
    key_id = KEY_ID.findall(said(tmp_path, "keys", "list"))[0]
    assert f"{key_id} is revoked" in said(tmp_path, "keys", "revoke", by_identity)
    assert f"{key_id} is revoked" in said(tmp_path, "keys", "revoke", key_id)
    assert "Revoked" in said(tmp_path, "keys", "list")


def test_an_organization_sees_its_own_keys_alone(tmp_path: Path) -> None:
    said(tmp_path, "orgs", "create", "one")
    mine = said(tmp_path, "keys", "create", "--org=one", "--quiet")
    assert mine[:16] in said(tmp_path, "keys", "list", "--org=one")
    said(tmp_path, "orgs", "create", "two")
    assert mine[:16] not in said(tmp_path, "keys", "list", "--org=two")


def test_what_cannot_be_done_is_said_in_one_sentence(tmp_path: Path) -> None:
    data = ("--data", tmp_path / "data")
    said(tmp_path, "orgs", "create", "one")
    assert "'one' already" in refused(tmp_path, "orgs", "create", "one", *data)
    assert "starter, pro, growth, enterprise" in refused(tmp_path, "orgs", "create", "two", "--plan=gold", *data)
    assert "the name must not be blank" in refused(tmp_path, "orgs", "create", "", *data)
    assert "callwright orgs list" in refused(tmp_path, "orgs", "fund", "none", "--amount=1", *data)
    assert "callwright orgs list" in refused(tmp_path, "keys", "create", "--org=none", *data)
    assert "callwright keys list" in refused(tmp_path, "keys", "revoke", "none", *data)


@pytest.mark.parametrize(
    ("amount", "words"),
    [
        ("much", "50.00"),
        ("NaN", "50.00"),
        ("Infinity", "50.00"),
        ("1e999999999", "50.00"),
        ("0", "above zero"),
        ("-5", "above zero"),
        ("1e30", "50.00"),
        ("1000001", "at most 1,000,000.00"),
    ],
)
def test_an_amount_that_means_nothing_is_refused(amount: str, words: str, tmp_path: Path) -> None:
    said(tmp_path, "orgs", "create", "one")
    assert words in refused(tmp_path, "orgs", "fund", "one", f"--amount={amount}", "--data", tmp_path / "data")


def test_the_warning_of_a_low_balance_is_set_and_switched_off(tmp_path: Path) -> None:
    said(tmp_path, "orgs", "create", "one")
    assert "comes below 25.00 USD" in said(tmp_path, "orgs", "change", "one", "--low-balance=25")
    assert "comes never" in said(tmp_path, "orgs", "change", "one", "--low-balance=off")
    data = ("--data", tmp_path / "data")
    assert "--low-balance" in refused(tmp_path, "orgs", "change", "one", "--low-balance=-1", *data)
    assert "--low-balance 'much'" in refused(tmp_path, "orgs", "change", "one", "--low-balance=much", *data)


@pytest.mark.parametrize("command", [("mcp",), ("serve", "--port=0"), ("orgs", "list"), ("keys", "list"), ()])
def test_a_wrong_setting_is_named_by_every_command(command: tuple[str, ...], tmp_path: Path) -> None:
    assert "CALLWRIGHT_SIM_TIME_SCALE" in refused(tmp_path, *command, CALLWRIGHT_SIM_TIME_SCALE="fast")
    assert "CALLWRIGHT_API_KEY" in refused(tmp_path, *command, CALLWRIGHT_BASE_URL="http://127.0.0.1:1/v1")


@pytest.mark.parametrize(
    "command", [("serve", "--port=0"), ("orgs", "list"), ("keys", "create"), ("demo", "--contacts=1")], ids=" ".join
)
def test_a_folder_that_cannot_be_one_is_named(command: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    words = refused(tmp_path, *command, "--data", tmp_path / "file")
    assert f"{tmp_path / 'file'} is not a folder" in words


@pytest.mark.parametrize("command", [("serve", "--port=0"), ("orgs", "list")], ids=" ".join)
def test_a_database_that_does_not_answer_is_named(command: tuple[str, ...], tmp_path: Path) -> None:
    database = "postgresql://me:hidden@127.0.0.1:1/none"
    words = refused(tmp_path, *command, "--data", tmp_path / "data", f"--database={database}")
    assert "the database cannot be used" in words
    assert "hidden" not in words


def test_the_demonstration_ends_with_a_recording_that_can_be_played(tmp_path: Path) -> None:
    out = tmp_path / "x.mp3"
    done = run(tmp_path, "demo", "--contacts=20", "--out", out)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    assert "start_deployment" in done.stdout
    assert "goal_met" in done.stdout
    sound = out.read_bytes()
    begin = 10 + sum(byte << shift for byte, shift in zip(sound[6:10], (21, 14, 7, 0), strict=True))
    frame = sound[begin if sound.startswith(b"ID3") else 0 :]
    assert (frame[0], frame[1] & 0xE6) == (0xFF, 0xE2), "a frame of MPEG audio, layer III"
    assert len(sound) > 10_000


@pytest.mark.parametrize("shown", ["{}…", "{}..."])
def test_a_key_is_revoked_by_its_beginning_as_the_list_shows_it(shown: str, tmp_path: Path) -> None:
    secret = said(tmp_path, "keys", "create", "--quiet").strip()
    assert "is revoked" in said(tmp_path, "keys", "revoke", shown.format(secret[:16]))
