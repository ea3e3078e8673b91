/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * store_path: which file a store's name means.
 *
 * For root a name without a slash means the file in the directory of root's stores
 * (DATABASE_PLACE_OF_ROOT), except where the working directory holds a file of that name in which
 * root may write a store (database_place.h). Other names, and all names of other users, are paths.
 * Nothing is held. Any thread. Uses: base, store.
 */
#ifndef ASSAY_STORE_STORE_PATH_H
#define ASSAY_STORE_STORE_PATH_H

#include "base/error.h"

/* To write; the directory is made, 0700, where it is used and missing. The caller's to free. */
int store_path_to_write(const char *name, char **path, struct error *err);

/* To read: the name itself where no such store is in the directory. The caller's to free. */
char *store_path_to_read(const char *name);

/* The same with another directory in place of root's. */
int store_path_to_write_in(const char *directory, const char *name, char **path, struct error *err);
char *store_path_to_read_in(const char *directory, const char *name);

#endif
