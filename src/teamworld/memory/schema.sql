-- The symbolic world model on disk. A task lives over episodes, a prototype belongs to a task, plan texts are
-- kept once. Times are steps. What a plan helped are the ids of goals as a JSON list.
CREATE TABLE episodes (
    id INTEGER PRIMARY KEY,
    run TEXT NOT NULL,
    episode INTEGER NOT NULL,
    completed INTEGER NOT NULL,
    ticks INTEGER NOT NULL,
    UNIQUE (run, episode)
);
CREATE TABLE tasks (
    id INTEGER PRIMARY KEY,
    run TEXT NOT NULL,
    task TEXT NOT NULL,
    UNIQUE (run, task)
);
CREATE TABLE prototypes (
    id INTEGER PRIMARY KEY,
    task_id INTEGER NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    actions TEXT NOT NULL,
    UNIQUE (task_id, actions)
);
CREATE TABLE plans (
    id INTEGER PRIMARY KEY,
    text TEXT NOT NULL UNIQUE
);
CREATE TABLE outcomes (
    episode_id INTEGER NOT NULL REFERENCES episodes (id) ON DELETE CASCADE,
    place INTEGER NOT NULL,
    task_id INTEGER NOT NULL REFERENCES tasks (id),
    goal TEXT NOT NULL,
    success INTEGER NOT NULL,
    end_tick INTEGER,
    done_order INTEGER,
    PRIMARY KEY (episode_id, place)
) WITHOUT ROWID;
CREATE TABLE instances (
    episode_id INTEGER NOT NULL REFERENCES episodes (id) ON DELETE CASCADE,
    place INTEGER NOT NULL,
    prototype_id INTEGER NOT NULL REFERENCES prototypes (id),
    agent TEXT NOT NULL,
    goal TEXT NOT NULL,
    plan_id INTEGER NOT NULL REFERENCES plans (id),
    lifted_id INTEGER NOT NULL REFERENCES plans (id),
    origin TEXT NOT NULL,
    start_tick INTEGER NOT NULL,
    end_tick INTEGER NOT NULL,
    success INTEGER NOT NULL,
    truncated INTEGER NOT NULL,
    units INTEGER NOT NULL,
    progress INTEGER NOT NULL,
    team INTEGER NOT NULL,
    communication TEXT NOT NULL,
    cause TEXT NOT NULL,
    cut INTEGER NOT NULL,
    situation TEXT NOT NULL,
    quorum INTEGER NOT NULL,
    credit INTEGER NOT NULL,
    helped TEXT NOT NULL,
    done_by INTEGER,
    PRIMARY KEY (episode_id, place)
) WITHOUT ROWID;
CREATE TABLE reflections (
    episode_id INTEGER NOT NULL REFERENCES episodes (id) ON DELETE CASCADE,
    place INTEGER NOT NULL,
    agent TEXT NOT NULL,
    tick INTEGER NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (episode_id, place)
) WITHOUT ROWID;
