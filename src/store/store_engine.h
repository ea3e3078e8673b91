/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * store_engine: the interface of an engine of stores. store.c calls the engine of a store's name.
 *
 * Life cycle, units, errors and threads of the operations are those of the functions of the same
 * names in store.h. An engine is a constant. Uses: store/store.h.
 */
#ifndef ASSAY_STORE_STORE_ENGINE_H
#define ASSAY_STORE_STORE_ENGINE_H

#include "store/store.h"

struct store_engine {
	/* True if the name means a store of this engine. */
	bool (*has)(const char *path);
	int (*open)(struct store **out, const char *path, const struct store_options *options,
	            struct error *err);
	void (*close)(struct store *s); /* never NULL */
	int (*begin)(struct store *s, const struct recording *described, uint64_t start_ns,
	             struct error *err);
	int (*set_notes)(struct store *s, char *const *notes, size_t count, struct error *err);
	int (*add_window)(struct store *s, const struct profile *p, const struct store_window *w,
	                  struct error *err);
	int (*add_gap)(struct store *s, uint64_t start_ns, uint64_t end_ns, const char *why,
	               struct error *err);
	int (*retention)(struct store *s, uint64_t now_ns, struct error *err);
	int (*end)(struct store *s, uint64_t end_ns, const char *why, struct error *err);
	int (*copy)(struct store *s, const char *path, struct error *err);
	uint64_t (*bytes)(const struct store *s);
	bool (*sent)(const struct store *s, struct send_account *a); /* NULL: it sends nothing */
	int (*read)(const char *path, const struct store_range *range, struct profile *p,
	            struct error *err);
	int (*add_changes)(const char *path, const struct store_change *changes, size_t count,
	                   struct error *err);
	int (*read_waits)(const char *path, const struct store_range *range,
	                  struct store_waits *waits, struct error *err);
};

/* The first member of an engine's store. */
struct store {
	const struct store_engine *engine;
};

extern const struct store_engine sqlite_engine;

#endif
