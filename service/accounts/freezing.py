"""Freezing a wallet: no new call is paid from it, and calls under way finish and are charged."""

from typing import Literal

from sqlalchemy import Connection, update

from callwright.service.accounts.records import add_audit_entry, before_and_after
from callwright.service.platform.ids import Ids
from callwright.service.tables.ledger import wallet_of
from callwright.service.tables.schema import wallets

WalletStatus = Literal["active", "frozen"]


def set_wallet_status(connection: Connection, ids: Ids, org_id: str, status: WalletStatus, now_ms: int) -> bool:
    """Freezes a wallet, or lets it pay again; returns whether that changed anything.

    Campaigns pause with the reason wallet_frozen once their calls have ended. Somebody resumes them afterwards.
    """
    before: str = wallet_of(connection, org_id, lock=True).status
    if before == status:
        return False
    connection.execute(update(wallets).where(wallets.c.org_id == org_id).values(status=status))
    changes = {"status": before_and_after(before, status)}
    action = "wallet.frozen" if status == "frozen" else "wallet.unfrozen"
    add_audit_entry(connection, ids, org_id, action, org_id, now_ms, changes)
    return True
