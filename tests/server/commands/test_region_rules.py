"""`callwright rules`: the rules of a region as a table or JSON, and the check of a file."""

import json
from pathlib import Path

import pytest
from sqlalchemy import Connection

from callwright.server.commands import region_rules
from callwright.server.settings import read_settings
from callwright.service.campaigns import newer_rules
from callwright.service.rules.regions import rule_file
from tests.support.commands.words import refused, said
from tests.support.processes.programs import run, serving

SHIPPED = Path(rule_file.__file__).parent / "regions.toml"


def told(home: Path, *words: str | Path) -> str:
    """What a command prints when it succeeds."""
    done = run(home, *words)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_the_rules_of_a_state_are_shown_with_those_of_its_country_and_the_default(tmp_path: Path) -> None:
    lines = told(tmp_path, "rules", "show", "us-fl").splitlines()
    assert lines[0].startswith("Florida, version 2026.")
    rows = {line.split()[0]: line for line in lines[2:]}
    assert {"US-FL.hours", "US.recording", "*.ring"} <= set(rows)
    assert "Every day 08:00 to 20:00" in rows["US-FL.hours"]
    assert "since 2021-07-01" in rows["US-FL.hours"]
    assert rows["US-FL.hours"].rstrip().endswith("verified")
    assert rows["US-FL.caps"].rstrip().endswith("unverified")


def test_the_rules_of_a_region_are_shown_as_json(tmp_path: Path) -> None:
    rules = {rule["rule"]: rule for rule in json.loads(told(tmp_path, "rules", "show", "FR", "--json"))}
    assert rules["FR.caps"]["says"] == "At most 4 calls to a number within 30 days"
    assert rules["FR.hours"]["since"] == "2023-03-01"
    assert rules["FR.hours"]["source"]["read"] is True


def test_all_regions_are_listed_with_how_many_rules_they_have(tmp_path: Path) -> None:
    regions = {row["region"]: row for row in json.loads(told(tmp_path, "rules", "show", "--json"))}
    assert regions["US-AK"] == {"region": "US-AK", "name": "Alaska", "rules": 0, "unverified": 0}
    assert regions["FR"]["rules"] == 3
    assert "US-AK" in told(tmp_path, "rules", "show")


def test_a_region_that_is_not_there_is_refused(tmp_path: Path) -> None:
    assert "no region Atlantis; `callwright rules show` lists them" in refused(tmp_path, "rules", "show", "Atlantis")


def test_a_file_that_is_right_is_counted(tmp_path: Path) -> None:
    said = told(tmp_path, "rules", "check", SHIPPED)
    assert said.startswith("version 2026.")
    assert said.rstrip().endswith("unverified")


def test_a_file_that_is_wrong_is_refused_with_the_place(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(SHIPPED.read_text(encoding="utf-8").replace("10:00-13:00", "13:00-10:00"), encoding="utf-8")
    assert "region FR, rule FR.hours, windows: " in refused(tmp_path, "rules", "check", file)


def test_what_is_no_rules_file_is_refused(tmp_path: Path) -> None:
    assert "cannot be read: No such file" in refused(tmp_path, "rules", "check", tmp_path / "none.toml")
    binary, large = tmp_path / "binary.toml", tmp_path / "large.toml"
    binary.write_bytes(b"\xff\xfe\x00")
    large.write_bytes(b"#" * 1_000_001)
    assert "not text in UTF-8" in refused(tmp_path, "rules", "check", binary)
    assert "more than 1,000,000 bytes" in refused(tmp_path, "rules", "check", large)
    assert "cannot be read" in refused(tmp_path, "rules", "check", tmp_path)


def newer(folder: Path, version: str = "2026.12.1", *changes: tuple[str, str]) -> Path:
    """The shipped rules under another version, with these texts replaced."""
    text = SHIPPED.read_text(encoding="utf-8").replace('version = "2026.11.1"', f'version = "{version}"')
    for before, after in changes:
        assert before in text
        text = text.replace(before, after)
    file = folder / f"rules-{version}.toml"
    file.write_text(text, encoding="utf-8")
    return file


@pytest.mark.requirement("RULE-06")
@pytest.mark.usefixtures("shipped_law")
def test_a_newer_file_is_loaded_into_a_running_service_and_is_in_force_there(tmp_path: Path) -> None:
    data = tmp_path / "data"
    file = newer(tmp_path)
    with serving(tmp_path, data):
        loaded = said(tmp_path, "rules", "load", str(file))
        assert loaded.startswith("version 2026.12.1: ")
        assert loaded.rstrip().endswith("in force from now on")
        listed = json.loads(said(tmp_path, "rules", "list", "--json"))
        assert [(one["version"], one["shipped"], one["in_force"]) for one in listed] == [
            ("2026.12.1", False, True),
            ("2026.11.1", True, False),
        ]
        assert said(tmp_path, "rules", "show", "FR").startswith("France, version 2026.12.1")
    assert told(tmp_path, "rules", "show", "FR").startswith("France, version 2026.11.1")
    assert "2026.12.1" in said(tmp_path, "rules", "list")
    for version in ("2026.12.1", "2026.11.30", "2026.12"):
        again = refused(tmp_path, "rules", "load", newer(tmp_path, version), "--data", data)
        assert f"version {version} is not newer than 2026.12.1" in again


@pytest.mark.parametrize("version", ["next", "2026-12", "2026.", "1.2.3.4.5", "٢٠٢٦.1", "9999999999.1"])
def test_a_version_that_is_no_numbers_with_dots_is_refused_by_name(version: str, tmp_path: Path) -> None:
    for command in (("rules", "check"), ("rules", "load")):
        assert ": the file, version: is '" in refused(tmp_path, *command, newer(tmp_path, version))


@pytest.mark.parametrize("command", ["serve", "mcp"])
def test_wrong_rules_of_the_settings_end_the_start_with_one_line(command: str, tmp_path: Path) -> None:
    file = newer(tmp_path, "2026.12.1", ("10:00-13:00", "13:00-10:00"))
    words = (command, "--data", tmp_path / "data", *(("--port", "0") if command == "serve" else ()))
    wrong = refused(tmp_path, *words, CALLWRIGHT_RULES=str(file))
    assert "CALLWRIGHT_RULES: " in wrong
    assert "region FR, rule FR.hours, windows: " in wrong


@pytest.mark.requirement("COST-09")
@pytest.mark.parametrize("command", ["serve", "mcp"])
def test_a_wrong_price_list_of_the_settings_ends_the_start_with_one_line(command: str, tmp_path: Path) -> None:
    file = tmp_path / "prices.toml"
    file.write_text('version = "1"\n[platform]\nminute = "much"\n', encoding="utf-8")
    words = (command, "--data", tmp_path / "data", *(("--port", "0") if command == "serve" else ()))
    wrong = refused(tmp_path, *words, CALLWRIGHT_SERVICE_PRICES=str(file))
    assert f"CALLWRIGHT_SERVICE_PRICES: {file}: platform.minute: this has to be a whole number" in wrong


def test_a_file_that_leaves_out_rules_in_force_is_loaded_only_when_they_are_to_go(tmp_path: Path) -> None:
    data, own = ("--data", tmp_path / "data"), tmp_path / "own.toml"
    text = told(tmp_path, "rules", "export", *data).replace('version = "2026.11.1"', 'version = "2026.12.1"')
    start, _, rest = text.partition('[[regions.US-FL.rules]]\nid = "US-FL.caps"')
    _, _, rest = rest.partition("\n[[")
    own.write_text(f"{start}[[{rest}", encoding="utf-8")
    why = refused(tmp_path, "rules", "load", own, *data)
    assert "leaves out 1 rule in force (US-FL.caps), and a file replaces all rules" in why
    assert "removed: US-FL.caps\n" in told(tmp_path, "rules", "load", own, "--remove-rules", *data)
    assert told(tmp_path, "rules", "export", *data) == own.read_text(encoding="utf-8")
    assert 'version = "2026.11.1"' in told(tmp_path, "rules", "export", "--version", "2026.11.1", *data)
    assert "no version 9; `callwright rules list`" in refused(tmp_path, "rules", "export", "--version", "9", *data)


@pytest.mark.usefixtures("shipped_law")
@pytest.mark.parametrize(
    ("count", "words"),
    [
        (1, "1 campaign has not moved to it, as another process holds it now, and no call is made before: dep_0\n"),
        (62, "62 campaigns have not moved to it, as others hold them now, and no call is made before: dep_0, dep_1, "),
    ],
)
async def test_campaigns_that_others_hold_are_all_counted_and_the_first_fifty_named(
    count: int, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def still_older(_: Connection) -> newer_rules.StillOlder:
        return newer_rules.StillOlder(count, [f"dep_{number}" for number in range(min(count, newer_rules.PAGE))])

    monkeypatch.setattr(newer_rules, "still_older", still_older)
    settings = read_settings({}, data=tmp_path / "data", database_url=None)
    await region_rules.load(settings, newer(tmp_path), may_remove=False)
    told = capsys.readouterr().out.splitlines(keepends=True)[-1]
    assert told.startswith(words)
    assert told.endswith("dep_49 and 12 more\n") or count == 1
