"""`callwright rules`: the rules of a region as a table or JSON, and the check of a file."""

import json
from pathlib import Path

from callwright.service.rules.regions import rule_file
from tests.support.commands.words import refused
from tests.support.processes.programs import run

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
