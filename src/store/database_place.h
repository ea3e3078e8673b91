/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * database_place: whether other users could have prepared the files beside a database.
 *
 * SQLite trusts the files beside a database. A PATH-journal may name another file, which the next
 * writer deletes; a PATH-wal takes the place of what the database holds. So a database is written
 * only where the database, its sidecars (-journal, -wal, -shm, -lock) and, for root, every
 * directory of its path belong to trusted users (base/file/safe_directory.h) and can be written by
 * no other. A reader refuses sidecars that belong neither to a trusted user nor to the owner of the
 * database, that are no regular files, or that have a second name. Nothing is held. Any thread.
 * Uses: base.
 */
#ifndef ASSAY_STORE_DATABASE_PLACE_H
#define ASSAY_STORE_DATABASE_PLACE_H

#include "store/database.h"

/* The directory of root's stores. The first use creates it with mode 0700. */
#define DATABASE_PLACE_OF_ROOT "/var/lib/assay"

/*
 * `whole`, unless NULL: the absolute path with its directories resolved, the caller's to free; a
 * link in the file's own place is left. The file need not be there. -EPERM, -ELOOP: refused; the
 * sentence names a place that works.
 */
int database_place(const char *path, enum database_mode mode, char **whole, struct error *err);

#endif
