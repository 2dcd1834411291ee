"""The settings of payments, as the service takes them."""

from callwright.server.settings import ProgramSettings
from callwright.service.settings import PaymentSettings


def payment_settings(settings: ProgramSettings) -> PaymentSettings:
    """Who takes the money of top-ups, with the secrets for it."""
    return PaymentSettings(
        provider=settings.payments,
        stripe_secret_key=settings.stripe_secret_key,
        stripe_webhook_secret=settings.stripe_webhook_secret,
        stripe_api_base=settings.stripe_api_base,
    )
