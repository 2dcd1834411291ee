"""Rents and gives back the numbers of a real carrier, Twilio, outside of every transaction.

A number is `pending` from the transaction that takes the money on, and `releasing` from the one that ends its use.
Then Twilio is asked; a second transaction keeps what came of it. Each attempt first looks whether Twilio has done it
already, by the id of the number, under which it is rented: so a lost answer, and a process that ended between the two,
leave nothing rented twice and nothing forgotten.
"""

import logging
from typing import Any, Literal

from sqlalchemy import Connection, Row, and_, bindparam, or_, select, update

from callwright.service.accounts.principals import SERVICE
from callwright.service.campaigns import number_status
from callwright.service.platform.clock.clock import MINUTE
from callwright.service.platform.ids import Ids
from callwright.service.services import Services
from callwright.service.tables import audit_log
from callwright.service.tables.ledger import Movement, book
from callwright.service.tables.schema import phone_numbers, transactions
from callwright.service.telephony.carriers.twilio import numbers
from callwright.service.telephony.carriers.twilio.account import account_of
from callwright.service.telephony.carriers.twilio.api import TwilioApi, TwilioRefused, TwilioUnavailable
from callwright.service.telephony.registry import TWILIO

log = logging.getLogger(__name__)
PAUSE_MS = MINUTE
"""How long after one attempt the next one follows; longer than any attempt takes."""
MOST = 20
"""The most numbers of one sweep."""
PAID_BACK = "the carrier did not rent the number: "
"""How the description of a month begins that is paid back; the reason follows."""
Kept = Literal["held", "gone", "unknown"]
_N = phone_numbers.c
_ONE = select(phone_numbers).where(_N.id == bindparam("id"))
_OPEN = and_(_N.provider == TWILIO, _N.status.in_(("pending", "releasing")))
# A new number has never been asked for: that is the first attempt.
_MAY_BE_TRIED = and_(_OPEN, or_(_N.updated_at == _N.created_at, _N.updated_at <= bindparam("b_before")))
_DUE = select(_N.id).where(_OPEN, _N.updated_at <= bindparam("b_before")).order_by(_N.updated_at).limit(MOST)
_CLAIM = update(phone_numbers).where(_N.id == bindparam("b_id"), _MAY_BE_TRIED).values(updated_at=bindparam("b_now"))
_WHY = select(transactions.c.description).where(
    transactions.c.reference_id == bindparam("id"), transactions.c.type == "refund"
)


def api_of(services: Services) -> TwilioApi | None:
    """What asks the Twilio account of this process; None if it has none."""
    account = account_of(services.settings.lines, services.settings.public_url)
    return None if account is None else TwilioApi(account)


def reason_of(connection: Connection, number_id: str) -> str:
    """Why a number was not rented."""
    description = connection.execute(_WHY, {"id": number_id}).scalar() or ""
    return description.removeprefix(PAID_BACK)


async def go_on(services: Services) -> None:
    """Goes on with what earlier attempts left open: numbers to rent, and to give back."""
    if api_of(services) is None:
        return
    before = {"b_before": services.clock.now_ms() - PAUSE_MS}
    due = await services.database.read(lambda connection: connection.execute(_DUE, before).scalars().all())
    for number_id in due:
        await attempt(services, number_id)


async def attempt(services: Services, number_id: str) -> None:
    """Rents a number that is pending, or gives one back that is releasing, if nobody else is at it.

    What Twilio does not answer stays open, and is tried again after a minute.
    """
    api = api_of(services)
    if api is None or not await services.database.write(_claim, number_id, services.clock.now_ms()):
        return
    row = await services.database.read(lambda connection: connection.execute(_ONE, {"id": number_id}).one())
    try:
        if row.status == "pending":
            await _rent(services, api, row)
        elif row.status == "releasing":
            await _give_back(services, api, row)
    except TwilioUnavailable as error:
        log.warning("a phone number stays %s: %s", row.status, error, extra={"phone_number_id": number_id})


async def still_has(services: Services, number: str) -> Kept:
    """Whether the account has a number that it rented. Unknown if there is no account here or no answer."""
    api = api_of(services)
    if api is None:
        return "unknown"
    try:
        return "gone" if await numbers.number_of(api, number) is None else "held"
    except TwilioUnavailable as error:
        log.warning("whether a phone number is still rented is not known: %s", error)
        return "unknown"


def _claim(connection: Connection, number_id: str, now_ms: int) -> bool:
    row = connection.execute(_ONE, {"id": number_id}).one()
    if row.status == "releasing":  # giving back may be repeated
        now_ms = max(now_ms, row.updated_at)
        before = now_ms
    else:
        now_ms, before = max(now_ms, row.created_at + 1), now_ms - PAUSE_MS
    return connection.execute(_CLAIM, {"b_id": number_id, "b_before": before, "b_now": now_ms}).rowcount == 1


async def _rent(services: Services, api: TwilioApi, row: Row[Any]) -> None:
    failure = None
    found = await numbers.number_of(api, row.number)
    if found is None:
        try:
            found = await numbers.rent(api, row.number, row.id)
        except TwilioUnavailable as error:
            found = await numbers.number_of(api, row.number)
            if found is None and not isinstance(error, TwilioRefused):
                raise
            failure = str(error)
    if found is not None:
        others = "the Twilio account has it already, and not from here; import_phone_number takes it in"
        failure = None if found.friendly_name == row.id else others
    status = await services.database.write(_keep_rental, services.ids, row.id, failure, services.clock.now_ms())
    if found is not None and failure is None and status == "failed":
        await numbers.release(api, found.sid)  # it was given up and paid back meanwhile


def _keep_rental(connection: Connection, ids: Ids, number_id: str, failure: str | None, now_ms: int) -> str:
    """Keeps whether a pending number was rented; if not, the month is paid back. Returns the number's status."""
    row = connection.execute(_ONE.with_for_update(), {"id": number_id}).one()
    if row.status != "pending":
        return row.status
    status = "active" if failure is None else "failed"
    values: dict[str, Any] = {"status": status, "updated_at": now_ms}
    if failure is not None:
        values |= {"renews_at": None, "auto_renew": False, "released_at": now_ms}
        description = f"{PAID_BACK}{failure}"[:200]
        back = Movement("refund", row.monthly_micros, "phone_number", number_id, description)
        book(connection, ids, row.org_id, [back], now_ms=now_ms)
    connection.execute(update(phone_numbers).where(_N.id == number_id).values(values))
    _record(connection, ids, row, status, now_ms)
    return status


async def _give_back(services: Services, api: TwilioApi, row: Row[Any]) -> None:
    found = await numbers.number_of(api, row.number)
    if found is not None:
        await numbers.release(api, found.sid)
    await services.database.write(_keep_release, services.ids, row.id, services.clock.now_ms())


def _keep_release(connection: Connection, ids: Ids, number_id: str, now_ms: int) -> None:
    row = connection.execute(_ONE.with_for_update(), {"id": number_id}).one()
    if row.status == "releasing":
        number_status.take_out_of_use(connection, ids, row, "released", now_ms=now_ms)
        entry = audit_log.entry_row(ids, row.org_id, "phone_number.released", number_id, by=SERVICE, at_ms=now_ms)
        audit_log.add_entries(connection, [entry])


def _record(connection: Connection, ids: Ids, row: Row[Any], status: str, now_ms: int) -> None:
    number_status.tell(connection, ids, row, status, now_ms=now_ms)
    entry = audit_log.entry_row(ids, row.org_id, f"phone_number.{status}", row.id, by=SERVICE, at_ms=now_ms)
    audit_log.add_entries(connection, [entry])
