"""One session for each key."""

from collections.abc import Mapping

import pytest
from mcp.server.auth.middleware.auth_context import auth_context_var
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken

from callwright.server.transport.key_sessions import IdentifiedKey, KeySessions, current_key, token_of
from callwright.tools.runtime.tool_context import Caller
from tests.support.tools.fakes import FakeCaller, FakeClock, numbered

TOOLS = {None: None, "analyst": frozenset({"get_wallet"})}
BASE_URL = "http://127.0.0.1:8080/v1"


def key(number: int, profile: str | None = None) -> IdentifiedKey:
    return IdentifiedKey(f"key_{number}", "org_1", profile is not None, profile, f"svc_secret_{number}")


class FakeKeys:
    """Gives a client of its own to each key."""

    def __init__(self) -> None:
        self.made: list[str] = []

    async def look_up(self, secret: str, /) -> IdentifiedKey | None:
        raise AssertionError("sessions do not identify")

    def count_unknown(self, address: str, /) -> Mapping[str, str] | None:
        raise AssertionError("sessions do not count unknown keys")

    def limit_headers(self, most: int, wait_s: float, /) -> Mapping[str, str]:
        raise AssertionError("sessions refuse nothing")

    def client(self, key: IdentifiedKey, /) -> Caller:
        self.made.append(key.id)
        return FakeCaller()


def sessions(keys: FakeKeys, *, most: int = 1_000) -> KeySessions:
    return KeySessions(
        keys,
        ids=numbered(),
        clock=FakeClock(),
        seal=b"s" * 32,
        base_url=BASE_URL,
        tools_of=TOOLS.__getitem__,
        most=most,
    )


async def test_a_key_keeps_its_session_and_its_client() -> None:
    keys = FakeKeys()
    found = sessions(keys)
    first, second = found.session(key(1)), found.session(key(2))
    assert found.session(key(1)) is first is not second
    assert await first.client() is await first.client() is not await second.client()
    assert keys.made == ["key_1", "key_2"]


def test_a_session_has_the_tools_of_its_profile_and_rest_only_for_a_key_of_an_organization() -> None:
    found = sessions(FakeKeys())
    person, organization = found.session(key(1, "analyst")), found.session(key(2))
    assert (person.offers("get_wallet"), person.offers("start_deployment"), person.base_url) == (True, False, None)
    assert (organization.offers("start_deployment"), organization.base_url) == (True, BASE_URL)


async def test_the_session_that_was_unused_for_longest_is_forgotten_and_still_works_for_whoever_has_it() -> None:
    keys = FakeKeys()
    found = sessions(keys, most=2)
    first, _ = found.session(key(1)), found.session(key(2))
    found.session(key(1))
    found.session(key(3))
    assert len(found) == 2
    assert found.session(key(1)) is first
    found.session(key(2))
    assert keys.made == ["key_1", "key_2", "key_3", "key_2"]
    found.session(key(3))
    assert isinstance(await first.client(), FakeCaller)


def test_the_session_at_hand_is_that_of_the_requests_key() -> None:
    found = sessions(FakeKeys())
    before = auth_context_var.set(AuthenticatedUser(token_of(key(7))))
    try:
        assert current_key() == key(7)
        assert found.current() is found.session(key(7))
    finally:
        auth_context_var.reset(before)


@pytest.mark.parametrize("user", [None, AuthenticatedUser(AccessToken(token="t", client_id="key_1", scopes=[]))])
def test_without_a_key_there_is_no_session(user: AuthenticatedUser | None) -> None:
    before = auth_context_var.set(user)
    try:
        with pytest.raises(RuntimeError, match="without a key"):
            sessions(FakeKeys()).current()
    finally:
        auth_context_var.reset(before)


def test_the_text_of_a_key_is_in_no_representation() -> None:
    token = token_of(key(1))
    assert "svc_secret" not in f"{key(1)!r} {token!r} {token} {token.model_dump_json()}"


def test_each_key_has_a_secret_of_its_own_that_outlives_its_session() -> None:
    first, other = sessions(FakeKeys()), sessions(FakeKeys())
    assert first.session(key(1)).secret == other.session(key(1)).secret != first.session(key(2)).secret
