"""Bringing the tables on a PostgreSQL server up to date, with Alembic: one step for each version of the schema."""

from __future__ import annotations

from collections.abc import Callable
from importlib.resources import as_file, files
from typing import Any

from alembic import command
from alembic.config import Config
from sqlalchemy import create_engine
from sqlalchemy.pool import NullPool


def migrate(connect: Callable[[], Any], revision: str = "head") -> None:
    """Bring the schema to a version, in one transaction; several processes may do so at once.

    Args:
        connect: Opens a connection of psycopg, in which a transaction begins by itself.
        revision: The version; the newest if it is not named.
    """
    engine = create_engine("postgresql+psycopg://", creator=connect, poolclass=NullPool)
    with as_file(files("teamworld.record") / "migrations") as folder, engine.begin() as connection:
        config = Config()
        config.set_main_option("script_location", str(folder).replace("%", "%%"))
        config.attributes["connection"] = connection
        command.upgrade(config, revision)
