/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * store_path: the file that the name of a store refers to.
 *
 * For root, a name without a slash refers to a file in the directory of root's stores
 * (DATABASE_PLACE_OF_ROOT), unless the working directory has a file of that name in which root may
 * write a store (database_place.h). All other names are paths. Stateless. Any thread. Uses: base,
 * store.
 */
#ifndef ASSAY_STORE_STORE_PATH_H
#define ASSAY_STORE_STORE_PATH_H

#include "base/error.h"

/*
 * The path to write to. A missing directory of root's stores is created with mode 0700. The caller
 * frees the path.
 */
int store_path_to_write(const char *name, char **path, struct error *err);

/*
 * The path to read from: the name itself if the directory of root's stores has no such file. The
 * caller frees it.
 */
char *store_path_to_read(const char *name);

/* As above, with another directory instead of root's. */
int store_path_to_write_in(const char *directory, const char *name, char **path, struct error *err);
char *store_path_to_read_in(const char *directory, const char *name);

#endif
