"""Mails are sent whole, over TLS that is verified, and a failure says why."""

from dataclasses import replace
from pathlib import Path

import pytest

from callwright.service.platform.outgoing import mail
from callwright.service.platform.outgoing.mail import Mailer, MailFailed
from tests.support.mail_server import SENDER, mail_server
from tests.support.webhooks.certificates import authority, presenting_its_own


async def test_a_mail_has_its_subject_its_text_and_one_recipient() -> None:
    async with mail_server() as server:
        await Mailer(server.settings).send("ann@example.com", "Grüße", "One line.\n.\nhttps://a.example/#code\n")
    (mail,) = server.messages
    assert (mail["From"], mail["To"], mail["Subject"]) == (f"Callwright <{SENDER}>", "ann@example.com", "Grüße")
    assert server.text().splitlines() == ["One line.", ".", "https://a.example/#code"]
    assert server.recipients == ["ann@example.com"]


@pytest.mark.requirement("DASH-27")
@pytest.mark.parametrize("security", ["tls", "starttls"])
async def test_a_server_is_verified_and_the_password_never_goes_in_the_clear(tmp_path: Path, security: str) -> None:
    trusted = authority(tmp_path)
    good, own = trusted.presenting("localhost"), presenting_its_own(tmp_path, "localhost")
    for context in (good, own):
        async with mail_server(**{security: context}) as server:
            settings = replace(
                server.settings,
                host="localhost",
                security=security,  # pyright: ignore[reportArgumentType]  # one of the words
                user="ann",
                password="secret",
            )
            mailer = Mailer(settings, context=trusted.trusting())
            if context is good:
                await mailer.send("ann@example.com", "Hello", "Text")
                assert server.logins == ["\0ann\0secret"]
                assert len(server.messages) == 1
            else:
                with pytest.raises(MailFailed, match="certificate"):
                    await mailer.send("ann@example.com", "Hello", "Text")
                assert (server.logins, server.messages) == ([], [])
            assert not any(line.startswith((b"AUTH", b"MAIL")) for line in server.in_the_clear)


@pytest.mark.requirement("DASH-27")
async def test_a_server_without_starttls_gets_nothing() -> None:
    async with mail_server() as server:
        with pytest.raises(MailFailed, match="does not offer"):
            await Mailer(replace(server.settings, security="starttls")).send("ann@example.com", "Hello", "Text")
        assert server.messages == []


async def test_a_failure_says_why_without_the_address() -> None:
    async with mail_server() as server:
        server.refuses = True
        with pytest.raises(MailFailed) as refused:
            await Mailer(server.settings).send("ann@example.com", "Hello", "Text")
    assert "ann" not in str(refused.value)
    with pytest.raises(MailFailed, match="cannot be reached"):
        await Mailer(server.settings).send("ann@example.com", "Hello", "Text")


@pytest.mark.parametrize("silent_at", [b"EHLO", b"MAIL", b"RCPT", b"DATA"])
async def test_a_server_that_says_nothing_is_told_from_one_that_refuses(
    silent_at: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mail, "STEP_S", 0.2)
    async with mail_server() as server:
        server.silent_at = silent_at
        with pytest.raises(MailFailed, match="did not answer in time"):
            await Mailer(server.settings).send("ann@example.com", "Hello", "Text")


async def test_a_mail_that_was_taken_is_sent_however_the_server_says_goodbye(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mail, "STEP_S", 0.2)
    async with mail_server() as server:
        server.silent_at = b"QUIT"
        await Mailer(server.settings).send("ann@example.com", "Hello", "Text")
        assert len(server.messages) == 1


async def test_a_server_that_takes_nothing_for_now_is_worth_another_try() -> None:
    async with mail_server() as server:
        server.refuses, server.refusal = True, "451 greylisted"
        with pytest.raises(MailFailed, match="try again in some minutes"):
            await Mailer(server.settings).send("ann@example.com", "Hello", "Text")


@pytest.mark.parametrize(
    ("to", "subject"),
    [
        ("ann@example.com\nBcc: bob@example.com", "Hello"),
        ("ann@example.com", "Hello\r\nBcc: bob@example.com"),
        ("", "a"),
    ],
)
async def test_no_header_is_slipped_in(to: str, subject: str) -> None:
    async with mail_server() as server:
        with pytest.raises(MailFailed):
            await Mailer(server.settings).send(to, subject, "Text")
        assert server.messages == []
