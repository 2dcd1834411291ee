"""The mail server of the program, as the service takes it."""

from callwright.server.settings import ProgramSettings
from callwright.service.settings import MailSettings


def mail_settings(settings: ProgramSettings) -> MailSettings | None:
    """The server that sends mails; None if there is none."""
    found = settings.mail
    if found is None:
        return None
    return MailSettings(
        host=found.host,
        port=found.port,
        security=found.security,
        sender=found.sender,
        user=found.user,
        password=found.password,
    )
