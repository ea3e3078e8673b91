/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sqlite_store: a store in one SQLite file, the engine of all names without a scheme.
 *
 * The functions are those of store.h. Each window is one transaction, in WAL mode, so that readers
 * and the writer do not wait for each other. schema.h creates the tables; a file of an earlier
 * version is upgraded by its writer. Life cycle, units, errors and threads are those of store.h.
 * Uses: base, event, image, process, profile.
 */
#ifndef ASSAY_STORE_SQLITE_SQLITE_STORE_H
#define ASSAY_STORE_SQLITE_SQLITE_STORE_H

#include "store/store_engine.h"

struct sqlite_store;

int sqlite_store_open(struct sqlite_store **out, const char *path,
                      const struct store_options *options, struct error *err);
void sqlite_store_close(struct sqlite_store *s); /* NULL-safe */
int sqlite_store_begin(struct sqlite_store *s, const struct recording *described, uint64_t start_ns,
                       struct error *err);
int sqlite_store_set_notes(struct sqlite_store *s, char *const *notes, size_t count,
                           struct error *err);
int sqlite_store_add_window(struct sqlite_store *s, const struct profile *p,
                            const struct store_window *w, struct error *err);
int sqlite_store_add_gap(struct sqlite_store *s, uint64_t start_ns, uint64_t end_ns,
                         const char *why, struct error *err);
int sqlite_store_retention(struct sqlite_store *s, uint64_t now_ns, struct error *err);
int sqlite_store_end(struct sqlite_store *s, uint64_t end_ns, const char *why, struct error *err);
int sqlite_store_copy(struct sqlite_store *s, const char *path, struct error *err);
/* store_keep() of a file. */
int sqlite_store_keep(const char *path, const struct store_retention_rules *rules, uint64_t now_ns,
                      struct store_kept *kept, struct error *err);
uint64_t sqlite_store_bytes(const struct sqlite_store *s);
int sqlite_store_read(const char *path, const struct store_range *range, struct profile *p,
                      struct error *err);
int sqlite_store_add_changes(const char *path, const struct store_change *changes, size_t count,
                             struct error *err);
int sqlite_store_read_waits(const char *path, const struct store_range *range,
                            struct store_waits *waits, struct error *err);

#endif
