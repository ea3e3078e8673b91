/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * load_store: a stretch of a store's time as a profile, from what was given on a command line.
 *
 * Errors are of the command line (-EINVAL) or of the store. Uses: profile, store.
 */
#ifndef ASSAY_CMD_LOAD_LOAD_STORE_H
#define ASSAY_CMD_LOAD_LOAD_STORE_H

#include "cmd/load/load.h"

extern const struct option load_until_table[]; /* --store, --from, --until, --host */
extern const struct option load_store_table[]; /* these and --to, which says the same as --until */

/*
 * The store that is to be read, by --store or as the only file; *path NULL: none is, and
 * recordings are. The caller's to free. -EINVAL where options or files do not go together.
 */
int load_store_path(char **path, const struct load_options *o, struct error *err);
int load_store_read(struct profile *p, const char *path, const struct load_options *o,
                    struct error *err);

#endif
