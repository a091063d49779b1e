"""Tables of what episodes added to world models, and of answers of language models.

Both are JSON in texts: the type ``json`` orders nothing and compares nothing.
"""

from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make the tables."""
    op.execute("""
        CREATE TABLE teamworld.deltas (
            run text COLLATE "C" NOT NULL,
            episode bigint NOT NULL,
            delta text NOT NULL,
            PRIMARY KEY (run, episode)
        )
    """)
    op.execute("""
        CREATE TABLE teamworld.answers (
            request text COLLATE "C" NOT NULL,
            seed bigint NOT NULL,
            episode bigint NOT NULL,
            mind text COLLATE "C" NOT NULL,
            purpose text COLLATE "C" NOT NULL,
            number bigint NOT NULL,
            attempt bigint NOT NULL,
            model text NOT NULL,
            completion text NOT NULL,
            PRIMARY KEY (request, seed, episode, mind, purpose, number, attempt)
        )
    """)
