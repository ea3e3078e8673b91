/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * load_store: reads a time range of a store as a profile, by the options of a command line.
 *
 * Errors are of the command line (-EINVAL) or of the store. Uses: profile, store.
 */
#ifndef ASSAY_CMD_LOAD_LOAD_STORE_H
#define ASSAY_CMD_LOAD_LOAD_STORE_H

#include "cmd/load/load.h"
#include "store/store.h"

extern const struct option load_machine_table[]; /* --store, --host, --service, --build */
extern const struct option load_until_table[];   /* these, --from and --until */
extern const struct option load_store_table[]; /* these and --to, which means the same as --until */

/*
 * The store to read, given by --store or as the only file; *path NULL: there is none, so
 * recordings are read. The caller frees it. -EINVAL: options or files cannot be combined.
 */
int load_store_path(char **path, const struct load_options *o, struct error *err);
/* The range of the options. -EINVAL: a time is wrong. */
int load_store_range(struct store_range *range, const struct load_options *o, struct error *err);
int load_store_read(struct profile *p, const char *path, const struct load_options *o,
                    struct error *err);

/* A pattern that matches this name alone, which the caller frees; NULL for NULL. */
char *load_store_exactly(const char *name);

#endif
