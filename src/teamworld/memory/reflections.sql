-- Since version 2: what agents told the team (DR. WELL spec B18), by episode in the order of telling.
CREATE TABLE reflections (
    episode_id INTEGER NOT NULL REFERENCES episodes (id) ON DELETE CASCADE,
    place INTEGER NOT NULL,
    agent TEXT NOT NULL,
    tick INTEGER NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (episode_id, place)
) WITHOUT ROWID;
