"""The settings of a SIP trunk as texts."""

import pytest

from callwright.service.telephony.carriers.sip_trunk import NoTrunk, SipTrunk, options_of, trunk_from, trunk_of


def test_an_address_alone_is_a_trunk_without_an_account() -> None:
    trunk = trunk_from("sip:sip.example.com")
    assert trunk == SipTrunk("sip.example.com")
    assert (trunk.address, trunk.transport, trunk.registers, trunk.verify) == ("sip.example.com", "udp", False, True)
    assert trunk.number_is_in_from
    assert not trunk.is_on_this_machine


def test_everything_that_can_be_set() -> None:
    trunk = trunk_from(
        "sip:sip.example.com:5061;transport=TLS;srtp=required;caller_id=identity;from_domain=example.org;"
        "display=Northwind Ltd;auth_user=42;ca=/etc/ssl/trunk.pem;verify=yes",
        user=" bob ",
        password="se cret;",
        register="TRUE",
    )
    assert trunk == SipTrunk(
        "sip.example.com",
        5061,
        transport="tls",
        user="bob",
        password="se cret;",
        auth_user="42",
        registers=True,
        from_domain="example.org",
        display="Northwind Ltd",
        caller_id="identity",
        srtp="required",
        ca_file="/etc/ssl/trunk.pem",
    )
    assert not trunk.number_is_in_from


@pytest.mark.parametrize(
    ("text", "address", "here"),
    [
        ("sip:127.0.0.1:5070;transport=udp", "127.0.0.1:5070", True),
        ("sip:localhost:5070", "127.0.0.1:5070", True),
        ("sip:[::1]:5070", "[::1]:5070", True),
        ("sip:[2001:db8::1]", "[2001:db8::1]", False),
        ("SIP:192.0.2.1", "192.0.2.1", False),
    ],
)
def test_addresses(text: str, address: str, here: bool) -> None:
    trunk = trunk_from(text)
    assert (trunk.address, trunk.is_on_this_machine) == (address, here)


def test_a_trunk_that_registers_has_the_number_as_identity_unless_it_is_said_otherwise() -> None:
    assert not trunk_from("sip:a.example", user="bob", register="true").number_is_in_from
    assert trunk_from("sip:a.example;caller_id=from", user="bob", register="true").number_is_in_from


@pytest.mark.parametrize(
    ("text", "more", "named"),
    [
        ("a.example", {}, "begin with sip:"),
        ("sips:a.example", {}, "begin with sip:"),
        ("sip:bob@a.example", {}, "must have no user"),
        ("sip:", {}, "host"),
        ("sip:a b.example", {}, "host"),
        ("sip:a.example:0", {}, "port"),
        ("sip:a.example:70000", {}, "port"),
        ("sip:a.example:x", {}, "port"),
        ("sip:a.example;transport=ws", {}, "transport must be one of udp, tcp, tls"),
        ("sip:a.example;srtp=yes", {}, "srtp must be one of off, offered, required"),
        ("sip:a.example;srtp=required", {}, "transport must be tls"),
        ("sip:a.example;caller_id=both", {}, "caller_id must be one of from, identity"),
        ("sip:a.example;caller_id=identity", {}, "needs a user"),
        ("sip:a.example;lr", {}, "no parameter 'lr'"),
        ("sip:a.example;transport", {}, "'transport' must have one value"),
        ("sip:a.example;transport=udp;transport=tcp", {}, "'transport' must have one value"),
        ("sip:a.example;verify=perhaps", {}, "verify must be true or false"),
        ("sip:a.example;from_domain=<>", {}, "from_domain"),
        ("sip:a.example", {"register": "perhaps"}, "registering must be true or false"),
        ("sip:a.example", {"register": "true"}, "needs a user"),
        ("sip:a.example", {"user": "b ob"}, "user has a character"),
        ("sip:a.example", {"password": 'top"secret'}, "password must have no quotation mark"),
        ('sip:a.example;display="A"', {}, "display must have no quotation mark"),
        ("sip:192.0.2.1;transport=tls", {}, "needs a name as its host"),
    ],
)
def test_what_means_nothing_is_named_and_no_password_is_shown(text: str, more: dict[str, str], named: str) -> None:
    with pytest.raises(ValueError, match=named) as refused:
        trunk_from(text, **more)
    assert "secret" not in str(refused.value)
    assert str(refused.value).endswith(".")


def test_a_trunk_travels_in_an_order_and_is_not_shown_with_its_password() -> None:
    trunk = trunk_from("sip:a.example;transport=tcp", user="bob", password="secret", register="yes")
    assert trunk_of(options_of(trunk)) == trunk
    assert "secret" not in repr(trunk)
    for options in ({}, {"trunk": "{}"}, {"trunk": '{"host": "a b", "password": "secret"}'}):
        with pytest.raises(NoTrunk) as refused:
            trunk_of(options)
        assert "secret" not in str(refused.value)
        assert refused.value.__cause__ is None


def test_callers_come_by_registration_or_at_a_port() -> None:
    port = trunk_from("sip:a.example", inbound="0.0.0.0:5060", inbound_from=("203.0.113.0/24", "198.51.100.7"))
    assert (port.listens_at, port.inbound_from) == ("0.0.0.0:5060", ("203.0.113.0/24", "198.51.100.7"))
    login = trunk_from("sip:a.example;transport=tls", user="bob", register="true", inbound="Register")
    assert (login.listens_at, login.registers_to_call, login.number_is_in_from) == (None, False, False)
    assert trunk_from("sip:a.example", user="bob", register="true").registers_to_call


@pytest.mark.parametrize(
    ("text", "inbound", "networks", "named"),
    [
        ("sip:a.example", "register", (), "needs a user"),
        ("sip:a.example", "5060", (), "address and port"),
        ("sip:a.example", "0.0.0.0", (), "address and port"),
        ("sip:a.example", "b.example:5060", (), "address and port"),
        ("sip:a.example", "0.0.0.0:0", (), "address and port"),
        ("sip:a.example", "0.0.0.0:x", (), "port must be"),
        ("sip:a.example;transport=tls", "0.0.0.0:5061", (), "come by register"),
        ("sip:a.example", "0.0.0.0:5060", ("a.example",), "must be an address or a range"),
        ("sip:a.example", "", ("203.0.113.0/24",), "with callers"),
    ],
)
def test_a_way_in_that_means_nothing_is_named(text: str, inbound: str, networks: tuple[str, ...], named: str) -> None:
    with pytest.raises(ValueError, match=named) as refused:
        trunk_from(text, inbound=inbound, inbound_from=networks)
    assert str(refused.value).endswith(".")
