"""The table of top-ups: money that somebody is asked to pay, or has paid, into a wallet."""

from sqlalchemy import Column, ForeignKey, Index, String, Table

from callwright.service.tables.schema.accounts import Micros, Moment, key, metadata

topups = Table(
    "topups",
    metadata,
    key(),
    Column("org_id", String(40), ForeignKey("organizations.id"), nullable=False),
    Column("amount_micros", Micros, nullable=False),
    Column("currency", String(3), nullable=False),
    Column("provider", String(20), nullable=False),
    Column("provider_reference", String(255), unique=True),
    Column("payment_reference", String(255), unique=True),
    Column("status", String(10), nullable=False),
    Column("paid_micros", Micros),
    Column("refunded_micros", Micros, nullable=False, server_default="0"),
    Column("created_at", Moment, nullable=False),
    Column("expires_at", Moment, nullable=False),
    Column("settled_at", Moment),
    Column("next_look_at", Moment),
    Index("ix_topups_created", "org_id", "created_at", "id"),
    Index("ix_topups_next_look", "next_look_at"),
)
"""`provider_reference` is the provider's id of the checkout, null until the provider has answered; `payment_reference`
its id of the payment, which a refund names. `refunded_micros` may be known before the payment is. A pending top-up is
compared with the provider at `next_look_at`; it is null for all others.
"""
