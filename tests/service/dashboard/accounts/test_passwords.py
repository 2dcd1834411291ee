"""Passwords: set, changed and used; what is refused; who guesses is slowed down, and nobody is locked out."""

import pytest
from sqlalchemy import select, update

from callwright.service import accounts
from callwright.service.accounts.password_hashing import PasswordHashing
from callwright.service.accounts.password_rules import checked_password
from callwright.service.rest.authentication.auth_throttle import ACCOUNT_WINDOW_MS, ALLOWED_PER_ACCOUNT
from callwright.service.tables.schema import passwords, users
from tests.support.clock_set_by_test import Process
from tests.support.dashboard import (
    ORIGIN,
    PASSWORD,
    Visit,
    logged_in,
    login_code,
    password_of,
    stranger,
    text_of,
)
from tests.support.service import Tenant

ANOTHER = "gravel under nine wheels"


async def _log_in(visit: Visit, password: str = PASSWORD, email: str = "member@example.com") -> tuple[int, str]:
    answer = await visit.send("/login", email=email, password=password)
    return answer.status_code, text_of(answer.text)


@pytest.mark.requirement("DASH-20")
async def test_a_password_is_set_and_logs_in_without_a_link(tenant: Tenant) -> None:
    async with logged_in(tenant, role="member") as visit, stranger(tenant) as later:
        assert "none: you log in with links" in text_of(await visit.page("/settings/account"))
        set_ = await visit.send("/settings/account", new_password=PASSWORD, again=PASSWORD)
        assert (set_.status_code, "The password is set." in set_.text) == (200, True)
        answer = await later.send("/login", email="Member@Example.com", password=PASSWORD)
        assert (answer.status_code, answer.headers["location"]) == (303, "/campaigns")
        assert "Change the password" in await later.page("/settings/account")
    stored = await tenant.database.read(lambda connection: connection.execute(select(passwords.c.hash)).scalar_one())
    assert stored.startswith("$argon2id$v=19$m=19456,t=2,p=1$")
    assert PASSWORD not in stored


@pytest.mark.requirement("DASH-21")
async def test_changing_a_password_asks_for_the_old_one_and_ends_the_other_sessions(tenant: Tenant) -> None:
    async with logged_in(tenant, role="member") as here, stranger(tenant) as there:
        await here.send("/settings/account", new_password=PASSWORD, again=PASSWORD)
        assert (await _log_in(there))[0] == 303
        wrong = await here.send("/settings/account", old_password="wrong" * 4, new_password=ANOTHER, again=ANOTHER)
        assert (wrong.status_code, 'id="fault-old_password"' in wrong.text) == (401, True)
        missing = await here.send("/settings/account", new_password=ANOTHER, again=ANOTHER)
        assert missing.status_code == 401
        await there.page("/campaigns")
        changed = await here.send("/settings/account", old_password=PASSWORD, new_password=ANOTHER, again=ANOTHER)
        assert "Your other session has ended." in changed.text
        await here.page("/campaigns")
        assert (await there.http.get("/campaigns")).status_code == 303
        assert (await _log_in(there))[0] == 401
        assert (await _log_in(there, ANOTHER))[0] == 303


@pytest.mark.requirement("DASH-20")
@pytest.mark.parametrize(
    ("password", "said"),
    [
        ("eleven char", "12 to 200"),
        ("x" * 201, "12 to 200"),
        ("member@example.com", "your e-mail address"),
        ("Password1234", "many people"),
        ("123456789012", "many people"),
        ("qwertyuiop123", "many people"),
        ("abcabcabcabcabc", "many people"),
        ("passwordpassword", "many people"),
        ("a\tb\x00cdefghijklmn", "cannot be typed"),
    ],
    ids=ascii,
)
async def test_a_bad_password_is_refused_with_the_reason_at_its_field(tenant: Tenant, password: str, said: str) -> None:
    async with logged_in(tenant, role="member") as visit:
        answer = await visit.send("/settings/account", new_password=password, again=password)
        assert (answer.status_code, 'id="fault-new_password"' in answer.text) == (400, True)
        assert said in answer.text.lower()
        assert "none: you log in with links" in text_of(await visit.page("/settings/account"))


async def test_two_different_passwords_are_refused(tenant: Tenant) -> None:
    async with logged_in(tenant, role="member") as visit:
        answer = await visit.send("/settings/account", new_password=PASSWORD, again=ANOTHER)
        assert (answer.status_code, 'id="fault-again"' in answer.text) == (400, True)


def test_ordinary_phrases_are_taken_and_two_ways_to_write_one_are_the_same() -> None:
    for password in (
        "correct staple of horses",
        "Blauer Himmel über Graz",
        "1984 was a year too",
        "密码密码一二三四五六七八九十",
    ):
        assert checked_password(password, "ann@example.com")
    assert checked_password("ﬁne Ångström days", None) == checked_password("fine A\u030angstro\u0308m days", None)


@pytest.mark.requirement("DASH-22")
async def test_an_unknown_address_and_a_wrong_password_have_the_same_answer_and_the_same_work(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked: list[str] = []
    from callwright.service.accounts import password_hashing

    verified = password_hashing._verified  # pyright: ignore[reportPrivateUsage]

    def noted(known: str, given: str) -> bool:
        checked.append(known)
        return verified(known, given)

    monkeypatch.setattr(password_hashing, "_verified", noted)
    await password_of(tenant, "member")
    async with stranger(tenant) as visit:
        wrong = await visit.send("/login", email="member@example.com", password="wrong" * 3)
        unknown = await visit.send("/login", email="nobody.at.all@example.com", password="wrong" * 3)
        assert wrong.text.replace("member@example.com", "") == unknown.text.replace("nobody.at.all@example.com", "")
        assert wrong.status_code == unknown.status_code == 401
    parameters = [known.split("$")[1:4] for known in checked]
    assert len(parameters) == 2
    assert parameters[0] == parameters[1]


@pytest.mark.requirement("DASH-22")
async def test_who_guesses_at_an_account_is_slowed_down_and_links_still_work(tenant: Tenant, process: Process) -> None:
    await password_of(tenant, "member")
    fields = {"email": "member@example.com", "password": "wrong" * 3}
    answers = [await process.http.post("/login", data=fields) for _ in range(ALLOWED_PER_ACCOUNT + 1)]
    assert [answer.status_code for answer in answers] == [401] * ALLOWED_PER_ACCOUNT + [429]
    assert int(answers[-1].headers["retry-after"]) > 60
    right = {**fields, "password": PASSWORD}
    assert (await process.http.post("/login", data=right)).status_code == 429
    who = await tenant.database.read(accounts.find_user, "member@example.com")
    process.clock.at_ms = tenant.services.clock.now_ms()
    code = await login_code(tenant, who.id)
    assert (await process.http.post("/login", data={"code": code})).status_code == 303
    process.http.cookies.clear()
    process.clock.move(ACCOUNT_WINDOW_MS)
    assert (await process.http.post("/login", data=right)).status_code == 303


async def test_right_passwords_use_up_no_attempts(tenant: Tenant) -> None:
    await password_of(tenant, "member")
    async with stranger(tenant) as visit:
        for _ in range(ALLOWED_PER_ACCOUNT + 2):
            fields = {"email": "member@example.com", "password": PASSWORD}
            assert (await visit.http.post("/login", data=fields, headers={"Origin": ORIGIN})).status_code == 303


async def test_a_hash_with_earlier_parameters_is_made_anew_at_the_next_login(tenant: Tenant) -> None:
    from argon2 import PasswordHasher

    await password_of(tenant, "member")
    old = PasswordHasher(time_cost=1, memory_cost=1_024, parallelism=1).hash(PASSWORD)
    await tenant.database.write(lambda connection: connection.execute(update(passwords).values(hash=old)).rowcount)
    async with stranger(tenant) as visit:
        assert (await _log_in(visit))[0] == 303
    stored = await tenant.database.read(lambda connection: connection.execute(select(passwords.c.hash)).scalar_one())
    assert not PasswordHashing().is_old(stored)
    assert await PasswordHashing().matches(PASSWORD, stored)


@pytest.mark.requirement("DASH-22")
async def test_who_left_or_was_deleted_logs_in_with_no_password(tenant: Tenant) -> None:
    who = await password_of(tenant, "member")
    services = tenant.services
    await services.database.write(accounts.leave, services.ids, tenant.org_id, who, services.clock.now_ms())
    async with stranger(tenant) as visit:
        assert (await _log_in(visit))[0] == 401
        await services.database.write(accounts.delete_user, services.ids, who, services.clock.now_ms())
        assert (await _log_in(visit))[0] == 401
    kept = await tenant.database.read(
        lambda connection: connection.execute(
            select(passwords.c.user_id).join(users, users.c.id == passwords.c.user_id)
        ).all()
    )
    assert kept == []


@pytest.mark.requirement("DASH-07")
async def test_a_login_of_another_site_is_refused(tenant: Tenant) -> None:
    await password_of(tenant, "member")
    fields = {"email": "member@example.com", "password": PASSWORD}
    async with stranger(tenant) as visit:
        answer = await visit.http.post("/login", data=fields, headers={"Origin": "https://evil.example"})
        assert (answer.status_code, "set-cookie" in answer.headers) == (403, False)


async def test_who_was_removed_and_knows_the_password_reads_that_they_are_in_no_organization(tenant: Tenant) -> None:
    user_id = await password_of(tenant, "member")
    services = tenant.services
    now_ms = services.clock.now_ms()
    await services.database.write(accounts.leave, services.ids, tenant.org_id, user_id, now_ms)
    async with stranger(tenant) as visit:
        sent = {"email": "member@example.com", "password": PASSWORD}
        answer = await visit.http.post("/login", data=sent, headers={"Origin": ORIGIN})
        wrong = await visit.http.post(
            "/login", data={**sent, "password": "another one here"}, headers={"Origin": ORIGIN}
        )
    assert (answer.status_code, "You are in no organization any more" in answer.text) == (401, True)
    assert "do not belong together" in wrong.text
