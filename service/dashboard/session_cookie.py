"""The cookie that holds a session's secret. Source: RFC 6265bis, cookie prefixes."""

from starlette.responses import Response

from callwright.service.services import Services


def cookie_name(*, is_secure: bool) -> str:
    """The name of the session's cookie. With TLS, browsers hold it to this host and path (`__Host-`)."""
    return "__Host-callwright" if is_secure else "callwright_session"


def is_secure(services: Services) -> bool:
    """Whether browsers reach the service by TLS, as its public address says."""
    return (services.settings.public_url or "").startswith("https://")


def set_cookie(services: Services, response: Response, secret: str) -> None:
    """Sets the session's cookie."""
    secure = is_secure(services)
    response.set_cookie(cookie_name(is_secure=secure), secret, path="/", secure=secure, httponly=True, samesite="lax")


def delete_cookie(services: Services, response: Response) -> None:
    """Deletes the session's cookie."""
    secure = is_secure(services)
    response.delete_cookie(cookie_name(is_secure=secure), path="/", secure=secure, httponly=True, samesite="lax")
