"""The tables of imports of files into audiences. `schema.accounts` says the units."""

from sqlalchemy import BigInteger, Column, ForeignKey, Index, Integer, String, Table, Text, text

from callwright.service.platform.database.columns import partial_index
from callwright.service.tables.schema.accounts import Moment, key, metadata, owner

imports = Table(
    "imports",
    metadata,
    key(),
    owner(),
    Column("audience_id", String(40), ForeignKey("audiences.id"), nullable=False),
    Column("status", String(30), nullable=False),
    Column("status_reason", Text),
    Column("csv", Text),
    Column("file", Text),
    Column("read_as", String(100)),
    Column("upload_token_hash", String(64)),
    Column("upload_expires_at", Moment),
    Column("upload_bytes", BigInteger),
    Column("source_url", Text),
    Column("source_tag", String(200)),
    Column("begun_at", Moment),
    Column("read_percent", Integer),
    Column("total_rows", BigInteger),
    Column("processed", BigInteger, nullable=False),
    Column("added", BigInteger, nullable=False),
    Column("invalid", BigInteger, nullable=False),
    Column("duplicates", BigInteger, nullable=False),
    Column("lease_owner", String(40)),
    Column("lease_until", Moment),
    Column("created_at", Moment, nullable=False),
    Column("completed_at", Moment),
    Column("created_by_key_id", String(40)),
    Column("created_by_user_id", String(40)),
    partial_index("ix_imports_open", "created_at", where=text("completed_at IS NULL")),
    partial_index("ix_imports_upload", "upload_token_hash", where=text("upload_token_hash IS NOT NULL")),
    partial_index("ix_imports_source", "created_at", where=text("source_url IS NOT NULL")),
    Index("ix_imports_newest", "audience_id", "created_at", "id"),
    Index("ix_imports_org", "org_id", "audience_id"),
)

import_errors = Table(
    "import_errors",
    metadata,
    key(),
    Column("import_id", String(40), ForeignKey("imports.id"), nullable=False),
    Column("row_number", BigInteger, nullable=False),
    Column("column", String(100)),
    Column("code", String(40), nullable=False),
    Column("message", Text, nullable=False),
    Column("value_redacted", String(1000)),
    Column("line", BigInteger),
    Column("external_id", String(1000)),
    Index("ix_import_errors_row", "import_id", "row_number"),
    partial_index("ix_import_errors_external", "import_id", "external_id", where=text("external_id IS NOT NULL")),
)
