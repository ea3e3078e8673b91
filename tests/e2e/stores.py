# SPDX-License-Identifier: GPL-2.0-or-later
"""stores: rows of a store, read by SQLite itself and not by assay.

    with stores.reading(path) as db:
        found = stores.rows(db, "SELECT id FROM windows WHERE samples > ?", 7)

A writer of the store continues at the same time. A store that has no tables yet raises
sqlite3.OperationalError.
"""

import contextlib
import os
import sqlite3


def reading(path):
    """A connection that cannot write; use with `with`."""
    return contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True))


def rows(db, query, *values):
    return db.execute(query, values).fetchall()


def number(db, query, *values):
    """The first column of the only row."""
    return db.execute(query, values).fetchone()[0]


def environment(t, **more):
    """An environment in which stores on servers have a spool of this test, and reports of them have rare paths,
    as those of files have: recordings of a busy machine have many."""
    spool = t.path("spool")
    os.makedirs(spool, exist_ok=True)
    # Programs of other tests may be in the cache of all tests a moment later.
    return {**os.environ, "ASSAY_SPOOL": spool, "XDG_CACHE_HOME": str(t.path("cache")),
            "ASSAY_CLICKHOUSE_PATHS": "10000000", **more}
