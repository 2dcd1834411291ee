"""The tables of what calls cost: the price lists of the installation, and charges that carriers have yet to tell.

`schema.accounts` says the units.
"""

from sqlalchemy import Column, Index, Integer, String, Table, Text

from callwright.service.tables.schema.accounts import Moment, metadata, owner

price_lists = Table(
    "price_lists",
    metadata,
    Column("version", String(40), primary_key=True),
    Column("text", Text, nullable=False),
    Column("loaded_at", Moment, nullable=False),
)
"""The price lists that were in force, as files; a version never changes its contents."""

awaited_charges = Table(
    "awaited_charges",
    metadata,
    Column("call_id", String(40), primary_key=True),
    owner(),
    Column("deployment_id", String(40), nullable=False),
    Column("carrier", String(40), nullable=False),
    Column("charge_id", String(200), primary_key=True),
    Column("item", String(20), nullable=False),
    Column("ended_at", Moment, nullable=False),
    Column("asked", Integer, nullable=False),
    Column("next_at", Moment, nullable=False),
    Index("ix_awaited_charges_next", "carrier", "next_at"),
    Index("ix_awaited_charges_deployment", "deployment_id"),
)
"""Charges for calls that the carrier has not said; a row goes in the transaction that settles it.

`item` says which charge it is: `telephony` for the call itself, `transfer` for the call to a person that was to take it
over. `charge_id` is the carrier's id of that call, `asked` how often the carrier was asked, `next_at` when it is asked
again.
"""
