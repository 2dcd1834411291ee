"""What is taken out of what two runs say."""

from tests.compare.names import Names

AGENT, OTHER = "agt_" + "a" * 24, "agt_" + "b" * 24


def test_ids_secrets_addresses_and_moments_of_the_run_differ_and_nothing_else() -> None:
    moments = "2027-03-01T09:05:06Z 2027-03-01T10:00:18Z 2027-03-01T10:10:18Z"
    said = f"{AGENT} {OTHER} {AGENT} whsec_0123456789abcdef http://127.0.0.1:4711/x {moments}"
    assert Names().name(said) == "agt#1 agt#2 agt#1 <secret> <address>/x <now> <now> 2027-03-01T10:10:18Z"


def test_a_request_is_translated_by_the_names_of_what_was_met() -> None:
    old, new = Names(), Names()
    old.name(f'{{"id": "{AGENT}", "next_cursor": "abc"}}')
    new.name(f'{{"id": "{OTHER}", "next_cursor": "xyz"}}')
    assert old.translate(f"/v1/agents/{AGENT}?cursor=abc", new) == f"/v1/agents/{OTHER}?cursor=xyz"


def test_lists_are_in_an_order_that_ids_do_not_change() -> None:
    names = Names()
    one, two = [{"id": AGENT, "name": "b"}, {"id": OTHER, "name": "a"}], [{"id": AGENT, "name": "a"}]
    assert [item["name"] for item in names.in_order(one)] == ["a", "b"]
    assert names.in_order({"data": [*two]}) == {"data": two}
