"""How values stand in the audit log."""

from typing import Any

import pytest

from callwright.service.rest.audit.recorded_values import MOST_BYTES, SECRET, recorded, too_long


@pytest.mark.parametrize(
    ("name", "value", "stands"),
    [
        ("name", "Ada", "Ada"),
        ("name", None, None),
        ("max_concurrency", 10, 10),
        ("auto_renew", False, False),
        ("secret", "anything", SECRET),
        ("secret", None, None),
        ("signing_secret", "anything", SECRET),
        ("name", "whsec_abc and more", SECRET),
        ("name", "svc_live_abc", SECRET),
        ("prompt", "Use svc_mcp_abc, please.", f"Use {SECRET} please."),
        ("metadata", {"token": "abc", "team": "a"}, {"token": SECRET, "team": "a"}),
        ("metadata", {"svc_live_abc": "x"}, {SECRET: "x"}),
        ("parts", [{"password": "abc"}, "whsec_abc"], [{"password": SECRET}, SECRET]),
        ("number", "+12125550187", "+12•••••••87"),
        ("metadata", {"number": "+12125550187"}, {"number": "+12•••••••87"}),
        ("forward_to", "+12125550187", "+12•••••••87"),
        ("prompt", "Ring +1 (212) 555-0187 now.", "Ring +1 ••••••••••••87 now."),
        ("start_at", "2026-11-21T09:30:00+05:30", "2026-11-21T09:30:00+05:30"),
        ("prompt", "2 + 12345 is 12347", "2 + 12345 is 12347"),
    ],
)
def test_a_value_stands_without_secrets_and_numbers(name: str, value: Any, stands: Any) -> None:
    assert recorded(name, value) == stands


def test_a_number_that_the_organization_rents_stands_whole() -> None:
    assert recorded("number", "+12125550187", is_own=True) == "+12125550187"
    assert recorded("numbers", {"number": "+12125550187"}, is_own=True) == {"number": "+12•••••••87"}


def test_the_beginning_of_a_long_text_has_no_secret_either() -> None:
    found = recorded("system_prompt", "Ring +12125550187 with svc_live_abc. " + "x" * 3_000)
    assert found["begins"].startswith(f"Ring +12•••••••87 with {SECRET} xxx")
    assert found["characters"] == 3_037


def test_changes_just_within_the_bound_are_kept_whole() -> None:
    room = MOST_BYTES - len('{"a":""}')
    assert too_long({"a": "x" * room}) == {"a": "x" * room}
    assert too_long({"a": "x" * (room + 1)}) == {"fields": ["a"], "too_long": True}
