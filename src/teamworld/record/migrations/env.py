"""What Alembic runs: the steps that are missing, one process at a time."""

from alembic import context
from sqlalchemy import text

from teamworld.record.server import SCHEMA

_LOCK = 0x7477_6462  # "tw" and "db": held to the end of the transaction

connection = context.config.attributes["connection"]
connection.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
connection.execute(text(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}"))
context.configure(connection=connection, version_table_schema=SCHEMA)
with context.begin_transaction():
    context.run_migrations()
