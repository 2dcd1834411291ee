"""The table of providers: accounts at services that hear, think and speak. `schema.accounts` says the units."""

from sqlalchemy import Column, String, Table, Text

from callwright.service.tables.schema.accounts import Moment, Sorted, metadata, owner

_owner = owner()
_owner.primary_key = True

providers = Table(
    "providers",
    metadata,
    _owner,
    Column("name", Sorted, primary_key=True),
    Column("kind", String(20), nullable=False),
    Column("roles", Text, nullable=False),
    Column("url", Text),
    Column("model", String(200)),
    Column("voice", String(200)),
    Column("encrypted_key", Text),
    Column("key_ends_with", String(4)),
    Column("default_for", Text, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("updated_at", Moment, nullable=False),
    Column("created_by_key_id", String(40)),
)
"""`roles` and `default_for` are JSON lists. `encrypted_key` can be read with the secrets key of the installation alone,
for this organization and this name.
"""
