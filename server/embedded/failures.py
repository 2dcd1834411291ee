"""Describes why a service could not start, for a person who can fix it."""

from typing import cast

from callwright.client.errors import CallwrightError, ServiceFailed


def first_cause(error: BaseException) -> BaseException:
    """The first error inside exception groups."""
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    return error


def reason(error: BaseException) -> str | None:
    """Why the data folder or the database cannot be used, in one line. None for other errors."""
    from sqlalchemy.exc import DBAPIError  # already loaded if such an error occurred

    from callwright.service.platform.database.unavailable import DatabaseUnusable, StorageUnavailable
    from callwright.service.rules.prices.price_list import BadPriceList
    from callwright.service.rules.regions.rule_fields import RuleFileError
    from callwright.service.tables.migrations.upgrade import SchemaTooNew

    found = first_cause(error)
    if isinstance(found, SchemaTooNew | StorageUnavailable | DatabaseUnusable):
        return str(found)
    if isinstance(found, BadPriceList):
        return f"CALLWRIGHT_SERVICE_PRICES: {found}"
    if isinstance(found, RuleFileError):
        return f"CALLWRIGHT_RULES: {found}"
    if isinstance(found, DBAPIError):
        lines = str(found.orig).splitlines()
        return f"the database cannot be used: {lines[0] if lines else type(found.orig).__name__}"
    if isinstance(found, FileExistsError | NotADirectoryError):
        return f"{found.filename} is not a folder: look at --data and --database"
    if isinstance(found, OSError) and not isinstance(found, TimeoutError):
        return f"{found.filename or 'the data folder'} cannot be used: {found.strerror or found}"
    return None


def start_failure(error: Exception) -> Exception:
    """An error that tools can explain to a model, or the first cause itself if the program is at fault."""
    why = reason(error)
    if why is not None:
        message = f"The embedded service cannot start: {why}"
        return ServiceFailed(message, code="service_unavailable", status=503, type="api_error")
    found = first_cause(error)
    return found if isinstance(found, CallwrightError) else error
