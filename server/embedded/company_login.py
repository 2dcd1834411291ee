"""The settings of the company's login service, as the service takes them."""

from callwright.server.settings import ProgramSettings
from callwright.service.settings import CompanyLoginSettings


def company_login_settings(settings: ProgramSettings) -> CompanyLoginSettings | None:
    """The company's provider, with its secret; None if none is set."""
    found = settings.company_login
    if found is None:
        return None
    return CompanyLoginSettings(
        issuer=found.issuer,
        client_id=found.client_id,
        client_secret=found.client_secret,
        name=found.name,
        organization=found.organization,
        role=found.role,
    )
