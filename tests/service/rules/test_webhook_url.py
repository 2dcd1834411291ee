"""The form of addresses that take events, judged before anything is sent."""

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Network, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.service.rules.webhook_url import check
from tests.support.webhooks.forbidden_addresses import FORBIDDEN_HOSTS

LOOPBACK = (ip_network("127.0.0.0/8"), ip_network("::1/128"))
PRIVATE = (ip_network("10.0.0.0/8"),)


def refusal(url: str, opened: Sequence[IPv4Network | IPv6Network] = ()) -> str:
    """What is said about a URL that is refused."""
    with pytest.raises(ValueError, match=r"\.$") as caught:
        check(url, opened=opened)
    return str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "https://example.com",
        "https://example.com/",
        "HTTPS://EXAMPLE.com/Events",
        "https://example.com./",
        "https://example.com:8443/events?tenant=7&next=https://other.example/@me",
        "https://a_b.hooks.example.com/%20x",
        "https://1.example.com",
        "https://8.8.8.8/",
        "https://8.8.8.8:1/",
        "https://8.8.8.8:65535/",
        "https://[2606:4700:4700::1111]/",
        "https://[2606:4700:4700::1111]:8443/",
        "https://[::ffff:8.8.8.8]/",
        "https://bücher.example/",
        "https://BÜCHER.example/",
        "https://xn--bcher-kva.example/",
        "https://faß.example/",
        "https://例え。テスト/",
        "https://ｅｘａｍｐｌｅ.com/",
        "https://نامه\u200cای.example/",
    ],
)
def test_a_host_of_the_internet_is_accepted(url: str) -> None:
    check(url)


@pytest.mark.parametrize("host", FORBIDDEN_HOSTS)
def test_no_spelling_of_a_forbidden_address_is_accepted(host: str) -> None:
    assert "Events are not sent to" in refusal(f"https://{host}/events")
    assert "Events are not sent to" in refusal(f"https://{host}:8443")


@pytest.mark.parametrize("host", ["134744072", "0x08080808", "010.010.8.8", "8.8.2056", "0x8.8.8.8", "8.8.8.010"])
def test_an_address_of_the_internet_must_be_spelled_plainly(host: str) -> None:
    assert "write it as 8.8.8.8." in refusal(f"https://{host}/")


@pytest.mark.parametrize(
    "host",
    ["256.1.1.1", "1.2.3.4.5", "1.2.3.256", "4294967296", "0x100000000", "09.1.1.1", "a.123", "1.2.x.4", "9" * 60],
)
def test_a_host_that_ends_in_a_number_is_an_address_or_nothing(host: str) -> None:
    assert "no IPv4 address" in refusal(f"https://{host}/")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("localhost", "this machine"),
        ("LOCALHOST", "this machine"),
        ("localhost.", "this machine"),
        ("app.localhost", "this machine"),
        ("ｌｏｃａｌｈｏｓｔ", "this machine"),
        ("printer.local", "local network"),
        ("localhost.localdomain", "local network"),
        ("metadata.google.internal", "local network"),
        ("instance-data.ec2.internal", "local network"),
        ("vault.service.internal.", "local network"),
        ("wiki.corp", "local network"),
        ("nas.lan", "local network"),
        ("router.home", "local network"),
        ("router.home.arpa", "local network"),
        ("intranet", "no dot"),
        ("metadata", "no dot"),
        ("kubernetes", "no dot"),
        ("com.", "no dot"),
    ],
)
def test_a_name_that_means_something_inside_a_network_alone_is_refused(name: str, said: str) -> None:
    assert said in refusal(f"https://{name}/events")


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("", "must begin with https://"),
        ("example.com/events", "must begin with https://"),
        ("//example.com/events", "must begin with https://"),
        ("http://example.com/", "not sent over plain HTTP"),
        ("ftp://example.com/", "must begin with https://"),
        ("data:text/plain,events", "must begin with https://"),
        ("gopher://example.com:70/_x", "must begin with https://"),
        ("javascript:alert(1)", "must begin with https://"),
        ("https:example.com", "names no host"),
        ("https:/example.com", "names no host"),
        ("https:///events", "names no host"),
        ("https://:8443/", "names no host"),
        ("https://?x", "names no host"),
        ("https://me@example.com/", "user name or password"),
        ("https://me:secret@example.com/", "user name or password"),
        ("https://@example.com/", "user name or password"),
        ("https://example.com:443@127.0.0.1/", "user name or password"),
        ("https://example.com/#top", "fragment"),
        ("https://example.com/#", "fragment"),
        ("https://example.com#@127.0.0.1/", "fragment"),
        ("https://example.com\\@127.0.0.1/", "backslash"),
        ("https:\\\\example.com", "backslash"),
        (" https://example.com/", "white or control"),
        ("https://example.com/ ", "white or control"),
        ("https://exa mple.com/", "white or control"),
        ("https://example.com/\r\nX-Header: 1", "white or control"),
        ("https://example.com/\t", "white or control"),
        ("https://example.com/\x00", "white or control"),
        ("https://example.com/\x7f", "white or control"),
        ("https://example.com/\u00a0", "white or control"),
        ("https://example.com/\u202e", "white or control"),
        ("https://exam\u00adple.com/", "white or control"),
        ("https://example.com/\ud800", "white or control"),
        ("https://example.com:0/", "port"),
        ("https://example.com:65536/", "port"),
        ("https://example.com:/", "port"),
        ("https://example.com:-1/", "port"),
        ("https://example.com:x/", "port"),
        ("https://example.com:４４３/", "port"),
        ("https://example.com:443:443/", "port"),
        ("https://2606:4700::1111/", "port"),
        ("https://[::1/", "cannot be read"),
        ("https://::1]/", "cannot be read"),
        ("https://[::1]x/", "cannot be read"),
        ("https://x[::1]/", "cannot be read"),
        ("https://[example.com]/", "cannot be read"),
        ("https://[::1%25eth0]/", "zone"),
        ("https://[fe80::1%eth0]/", "zone"),
        ("https://ex%61mple.com/", "percent-encoding"),
        ("https://%31%32%37.0.0.1/", "percent-encoding"),
        ("https://example..com/", "no valid name"),
        ("https://.example.com/", "no valid name"),
        ("https://example.com../", "no valid name"),
        ("https://127.0.0.1../", "no valid name"),
        ("https://./", "no valid name"),
        ("https://-a.example.com/", "no valid name"),
        ("https://a-.example.com/", "no valid name"),
        ("https://a!b.example.com/", "no valid name"),
        ("https://a,b.example.com/", "no valid name"),
        (f"https://{'a' * 64}.example.com/", "no valid name"),
        (f"https://{'a.' * 126}com/", "no valid name"),
        ("https://xn--a.example/", "IDNA"),
        ("https://xn--.example/", "IDNA"),
        ("https://xn--bcher-kva!.example/", "IDNA"),
        ("https://bü cher.example/", "white or control"),
        ("https://☃.example/", "IDNA"),
        ("https://exa／mple.com/", "cannot be read"),
        ("https://a\u200cb.example/", "IDNA"),
    ],
)
def test_a_url_of_another_form_is_refused_with_what_to_do(url: str, said: str) -> None:
    assert said in refusal(url)


def test_2048_characters_are_accepted_and_2049_are_not() -> None:
    longest = "https://example.com/".ljust(2_048, "x")
    check(longest)
    assert "2,049 characters" in refusal(longest + "x")


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:8080/events",
        "https://127.0.0.1:8443/",
        "http://127.8.9.10/",
        "http://[::1]:8080/",
        "http://[::ffff:127.0.0.1]/",
        "http://localhost:8080/",
        "http://app.localhost/",
        "http://receiver:8080/",
        "http://receiver.internal/",
        "http://example.com/",
        "https://example.com/",
        "https://8.8.8.8/",
    ],
)
def test_opened_ranges_and_local_names_are_accepted_over_plain_http_too(url: str) -> None:
    check(url, opened=LOOPBACK)


def test_opened_ranges_open_nothing_else() -> None:
    assert "10.0.0.0/8" in refusal("http://10.0.0.1/", LOOPBACK)
    assert "169.254.0.0/16" in refusal("https://169.254.169.254/", LOOPBACK)
    assert "write it as 127.0.0.1" in refusal("http://127.1/", LOOPBACK)
    assert "this machine" in refusal("http://localhost/", PRIVATE)
    assert "this machine" in refusal("http://app.localhost/", (ip_network("fc00::/7"),))


def test_plain_http_to_an_address_is_for_opened_ranges_alone() -> None:
    assert "opened ranges alone" in refusal("http://8.8.8.8/", LOOPBACK)
    assert "opened ranges alone" in refusal("http://[2606:4700::1]/", LOOPBACK)


def judged(url: str, opened: Sequence[IPv4Network | IPv6Network] = ()) -> str | None:
    """What is said about a URL; None where it is accepted."""
    try:
        check(url, opened=opened)
    except ValueError as error:
        return str(error)
    return None


@given(st.text(max_size=80), st.sampled_from(["", "https://", "http://", "https://[", "https://a@"]))
def test_any_text_is_judged_with_a_sentence(text: str, prefix: str) -> None:
    for opened in ((), LOOPBACK):
        said = judged(prefix + text, opened)
        assert said is None or said.endswith(".")


@given(st.ip_addresses(v=4), st.sampled_from(["{0}", "0x{0:x}", "0{0:o}"]))
def test_every_spelling_of_an_address_is_judged_as_the_address(address: IPv4Address, spelling: str) -> None:
    plainly = f"The URL's host is an unusual spelling of an address; write it as {address}."
    assert judged(f"https://{spelling.format(int(address))}/") == (judged(f"https://{address}/") or plainly)


@pytest.mark.parametrize(
    "url",
    [
        "https://10.0.0.1/events",
        "https://localhost/events",
        "https://nas.lan/",
        "https://intranet/",
        "http://127.0.0.1/",
    ],
)
def test_an_address_that_is_not_public_is_told_how_it_is_opened_for_development(url: str) -> None:
    assert "callwright serve --webhook-networks" in refusal(url)
