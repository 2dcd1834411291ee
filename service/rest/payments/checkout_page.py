"""The page of a simulated checkout: what it asks for, and how the top-up stands."""

from html import escape
from string import Template
from typing import Any

from sqlalchemy import Row

from callwright.service.platform.money import amount
from callwright.service.rest.pages.page import Page, html_page, part

_FORM = '<form method="post"><button type="submit">Confirm the simulated payment</button></form>'
_OPEN = "Confirm it, and the wallet has the money at once."
_SAID = {
    "settled": "It is in the wallet.",
    "refunded": "It was in the wallet and went back.",
    "failed": "It failed.",
    "expired": "Nobody confirmed it in time. Ask for another top-up.",
}


FROM_DASHBOARD = "dashboard"
"""What tells the page in its query that its person has the dashboard, to which it then leads back."""
_BACK = '<p><a href="../../wallet">To the wallet</a></p>'


def checkout_page(topup: Row[Any], now_ms: int, *, leads_back: bool = False) -> Page:
    """The page, with a button while the top-up can be confirmed; `leads_back` to the dashboard's wallet."""
    is_late = topup.status == "pending" and now_ms >= topup.expires_at
    is_open = topup.status == "pending" and not is_late
    body = Template(part("simulated_checkout.html")).substitute(
        amount=amount(topup.amount_micros)[:-4],
        currency=escape(topup.currency),
        said=_OPEN if is_open else _SAID["expired" if is_late else topup.status],
        form=_FORM if is_open else "",
        back=_BACK if leads_back else "",
        id=escape(topup.id),
    )
    return html_page("Simulated checkout · Callwright", body, styles=("payments.css",), submits=True)
