"""Sends plain mails by SMTP, in a worker thread, with a bound on time and on how many at once.

Servers are verified as browsers do. Source: RFC 8314 (TLS from the first byte, or STARTTLS before anything else).
"""

import smtplib
import ssl
from contextlib import suppress
from email.errors import MessageError
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP

from anyio import CapacityLimiter, fail_after, to_thread

from callwright.service.settings import MailSettings

STEP_S = 10.0
"""How long the server may take for one step."""
WHOLE_S = 30.0
"""How long a mail may take in all."""
AT_ONCE = 4
_PASSING = 4
"""The first digit of an answer that refuses for now. Source: RFC 5321, section 4.2.1."""
_REFUSES = "the mail server refuses the address"
MOST_WAITING = 50


class MailFailed(Exception):
    """A mail was not sent. The text says why in short, without the address it was for."""


class Mailer:
    """Sends mails. One for each process. `context` says whom to trust; by default, whom the machine trusts."""

    def __init__(self, settings: MailSettings, *, context: ssl.SSLContext | None = None) -> None:
        self._settings, self._context = settings, context
        self._limiter = CapacityLimiter(AT_ONCE)

    async def send(self, to: str, subject: str, text: str) -> None:
        """Sends a mail. Raises `MailFailed`."""
        if self._limiter.statistics().tasks_waiting >= MOST_WAITING:
            raise MailFailed("too many mails wait to be sent")
        try:
            message = _message(self._settings.sender, to, subject, text)
        except (ValueError, IndexError, MessageError) as error:
            raise MailFailed("no mail can be sent to this address") from error
        try:
            with fail_after(WHOLE_S):
                await to_thread.run_sync(self._sent, to, message, limiter=self._limiter, abandon_on_cancel=True)
        except TimeoutError as error:
            raise MailFailed("the mail server did not answer in time") from error
        except ssl.SSLCertVerificationError as error:
            raise MailFailed("the certificate of the mail server is not to be trusted") from error
        except smtplib.SMTPAuthenticationError as error:
            raise MailFailed("the mail server refuses user and password") from error
        except smtplib.SMTPRecipientsRefused as error:
            is_passing = all(code // 100 == _PASSING for code, _ in error.recipients.values())
            words = "the mail server does not take it now; try again in some minutes" if is_passing else _REFUSES
            raise MailFailed(words) from error
        except smtplib.SMTPNotSupportedError as error:
            raise MailFailed("the mail server does not offer what is set: TLS, or a login") from error
        except (smtplib.SMTPException, OSError, ValueError) as error:
            if _timed_out(error):
                raise MailFailed("the mail server did not answer in time") from error
            raise MailFailed("the mail server cannot be reached, or refused the mail") from error

    def _sent(self, to: str, message: EmailMessage) -> None:
        found = self._settings
        context = self._context or ssl.create_default_context()
        if found.security == "tls":
            server = smtplib.SMTP_SSL(found.host, found.port, timeout=STEP_S, context=context)
        else:
            server = smtplib.SMTP(found.host, found.port, timeout=STEP_S)
        try:
            if found.security == "starttls":
                server.starttls(context=context)
            if found.user is not None:
                server.login(found.user, found.password or "")
            server.send_message(message, from_addr=found.sender, to_addrs=[to])
            with suppress(smtplib.SMTPException, OSError):  # the mail is taken, however the server says goodbye
                server.quit()
        finally:
            server.close()


def _timed_out(error: BaseException | None) -> bool:
    """Whether a step took too long; `smtplib` says of some that the connection was closed."""
    while error is not None:
        if isinstance(error, TimeoutError):
            return True
        error = error.__cause__ or error.__context__
    return False


def _message(sender: str, to: str, subject: str, text: str) -> EmailMessage:
    message = EmailMessage(policy=SMTP)
    message["From"] = Address("Callwright", addr_spec=sender)
    message["To"] = Address(addr_spec=to)
    message["Subject"] = subject
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(text)
    return message
