"""Runs migrations on the connection that `migrations.upgrade` hands over, inside its transaction."""

from alembic import context

from callwright.service.tables.schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,
    transaction_per_migration=False,
)
context.run_migrations()
