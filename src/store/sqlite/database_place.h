/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * database_place: whether other users could have prepared the files beside a database.
 *
 * SQLite trusts the files beside a database. A PATH-journal may name another file, which the next
 * writer deletes; a PATH-wal replaces contents of the database. So a database is written only if
 * the database, its sidecars (-journal, -wal, -shm, -lock) and, for root, every directory of its
 * path belong to trusted users (base/file/safe_directory.h) and other users cannot write to them.
 * A reader refuses a sidecar that belongs neither to a trusted user nor to the owner of the
 * database, that is not a regular file, or that has more than one hard link. Stateless. Any thread.
 * Uses: base.
 */
#ifndef ASSAY_STORE_SQLITE_DATABASE_PLACE_H
#define ASSAY_STORE_SQLITE_DATABASE_PLACE_H

#include "store/sqlite/database.h"

/* The directory of root's stores. The first use creates it with mode 0700. */
#define DATABASE_PLACE_OF_ROOT "/var/lib/assay"

/*
 * `whole`, unless NULL: the absolute path with its directories resolved (the last component is not
 * resolved); the caller frees it. The file need not exist. -EPERM, -ELOOP: refused; the error
 * names a place that works.
 */
int database_place(const char *path, enum database_mode mode, char **whole, struct error *err);

#endif
