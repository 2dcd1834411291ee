"""Rules of regions that forbid nothing: a test that is not about the law does not depend on the hour of the day.

A test about the law takes the fixture `shipped_law`, and chooses the moment at which its service's clock begins.
"""

import os
from pathlib import Path

from callwright.service.rules.regions.region_rules import RegionRules
from callwright.service.rules.regions.rule_file import read_rules
from callwright.service.tables import rules_files

FILE = Path(__file__).with_name("open.rules.toml")
OPEN_RULES = read_rules(FILE.read_text(encoding="utf-8"))


def open_rules() -> RegionRules:
    """The rules that forbid nothing."""
    return OPEN_RULES


def use_open_rules() -> None:
    """Services of this process, and of processes that it starts, dial by the open rules from now on."""
    os.environ["CALLWRIGHT_RULES"] = str(FILE)
    rules_files.shipped = open_rules
