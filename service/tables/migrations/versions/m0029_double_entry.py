"""Every transaction names the two accounts between which it moves money; calls keep their price and its parts."""

import json
from collections import defaultdict

import sqlalchemy as sa
from alembic import op

revision = "0029"
down_revision = "0028"

_ACCOUNTS = ("wallet", "reserved", "funding", "calls", "rentals", "refunds", "adjustments")
_OTHER = (
    "CASE type WHEN 'topup' THEN 'funding' WHEN 'call_charge' THEN 'calls' WHEN 'number_rental' THEN 'rentals' "
    "WHEN 'refund' THEN 'refunds' ELSE 'adjustments' END"
)


def upgrade() -> None:
    """Old transactions get their accounts, and what is held back becomes a transaction too."""
    op.add_column("wallets", sa.Column("status", sa.String(10), server_default="active", nullable=False))
    op.add_column("audiences", sa.Column("countries", sa.Text(), server_default="{}", nullable=False))
    for name in ("price", "cost_items"):
        op.add_column("calls", sa.Column(name, sa.Text()))
    _rentals()
    for name in ("debit_account", "credit_account"):
        op.add_column("transactions", sa.Column(name, sa.String(20), server_default="unknown", nullable=False))
    op.drop_index("ix_transactions_created", table_name="transactions")
    op.create_index("ix_transactions_created", "transactions", ["org_id", "created_at", "id", "type"])
    op.create_table(
        "ledger_accounts",
        sa.Column("org_id", sa.String(40), sa.ForeignKey("organizations.id"), primary_key=True),
        sa.Column("account", sa.String(20), primary_key=True),
        sa.Column("balance_micros", sa.BigInteger(), nullable=False),
    )
    _book()
    refunds = sa.text("type = 'refund'")
    op.create_index(
        "uq_transactions_refund",
        "transactions",
        ["reference_id"],
        unique=True,
        sqlite_where=refunds,
        postgresql_where=refunds,
    )
    _count_countries()


def _rentals() -> None:
    op.add_column("phone_numbers", sa.Column("billing_status", sa.String(10), server_default="current", nullable=False))
    for name in ("past_due_since", "renewal_retry_at"):
        op.add_column("phone_numbers", sa.Column(name, sa.BigInteger()))
    op.drop_index("ix_phone_numbers_renews", table_name="phone_numbers")
    op.create_index("ix_phone_numbers_renewal", "phone_numbers", [sa.text("coalesce(renewal_retry_at, renews_at)")])


def _book() -> None:
    """The accounts of transactions, and the balance of each account."""
    connection = op.get_bind()
    both = f"debit_account = {_OTHER}, credit_account = 'wallet' WHERE amount_micros >= 0"
    connection.execute(sa.text(f"UPDATE transactions SET {both}"))
    both = f"debit_account = 'wallet', credit_account = {_OTHER} WHERE amount_micros < 0"
    connection.execute(sa.text(f"UPDATE transactions SET {both}"))
    held = sa.text(
        "INSERT INTO transactions (id, org_id, type, amount_micros, balance_after_micros, description, created_at, "
        "debit_account, credit_account) SELECT 'txn_' || substr(org_id, 5), org_id, 'reservation', -reserved_micros, "
        "balance_micros, 'held back for calls', updated_at, 'wallet', 'reserved' FROM wallets WHERE reserved_micros > 0"
    )
    connection.execute(held)
    for account in _ACCOUNTS:
        balance = sa.text(
            "INSERT INTO ledger_accounts (org_id, account, balance_micros) SELECT wallets.org_id, :account, "
            "coalesce((SELECT sum(CASE WHEN credit_account = :account THEN abs(amount_micros) "
            "ELSE -abs(amount_micros) END) FROM transactions WHERE transactions.org_id = wallets.org_id "
            "AND :account IN (debit_account, credit_account)), 0) FROM wallets"
        )
        connection.execute(balance.bindparams(sa.bindparam("account", type_=sa.String)), {"account": account})


def _count_countries() -> None:
    """How many people an audience has in each country."""
    connection = op.get_bind()
    counted = sa.text(
        "SELECT audience_id, coalesce(country, '*') AS country, count(*) AS people FROM audience_rows "
        "GROUP BY audience_id, country"
    )
    found: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for row in connection.execute(counted):
        found[row.audience_id][row.country] = row.people
    store = sa.text("UPDATE audiences SET countries = :counts WHERE id = :id")
    if found:
        connection.execute(store, [{"id": key, "counts": json.dumps(counts)} for key, counts in found.items()])
