/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flat: rows of a profile grouped by any list of keys.
 *
 * flat_new() groups, sums and sorts (most time first); flat_cut() says how
 * many rows are worth showing and sums up the rest. Shares are 0 to 1, of the
 * selection's base. With children a group also gets the rows whose path
 * passes through it, each path once ("total"). Off-CPU time is charged to
 * what waited, not to the scheduler below it. Uses: base, profile, view.
 */
#ifndef ASSAY_VIEW_FLAT_H
#define ASSAY_VIEW_FLAT_H

#include "base/buf.h"
#include "view/filter.h"

enum flat_key {
	FLAT_PROCESS,
	FLAT_INSTANCE,
	FLAT_THREAD,
	FLAT_CPU,
	FLAT_IMAGE,
	FLAT_FUNCTION,
	FLAT_LINE,
	FLAT_ADDRESS,
	FLAT_MODE,
	FLAT_REGION,
	FLAT_CGROUP,
};

#define FLAT_KEYS 11
#define FLAT_SLOTS (FLAT_KEYS + 1) /* an address takes two */

struct flat_request {
	enum flat_key keys[FLAT_KEYS];
	size_t key_count;
	bool children;
	bool intervals; /* low and high are wanted */
	bool steps;     /* compare with the second clock */
};

struct flat_row {
	uint64_t slots[FLAT_SLOTS];
	uint32_t example;                     /* a profile row of this group */
	uint32_t frame;                       /* a frame of this group, ID_NONE: path was empty */
	uint32_t mark;                        /* scratch: last profile row counted */
	uint64_t samples, weight;             /* self */
	uint64_t total_samples, total_weight; /* with callees; = self without children */
	uint64_t runnable_ns, blocked_ns;
	double share, total_share, low, high; /* the interval is of share */
	/* of busy samples, by the clock and a second one, if beyond chance; else 0 */
	double step_clock, step_witness, step_z;
};

struct flat {
	struct view *view;
	struct flat_request request;
	VEC(struct flat_row) rows;
	uint64_t samples, weight, runnable_ns, blocked_ns; /* of all rows */
	uint64_t base_samples, base_weight;
	bool has_waits;
};

/* What flat_cut() leaves out. */
struct flat_rest {
	size_t shown, rows;
	uint64_t samples, weight, runnable_ns, blocked_ns;
	double share;
	double most; /* share of the largest row left out */
};

/* Rows: ids of profile rows; waits: of ATTR_SWITCH events. Base: what shares are of. */
struct flat *flat_new(struct view *v, const struct selection *s,
                      const struct flat_request *request);
void flat_free(struct flat *f);

/*
 * Rows below `limit` (a share), with fewer samples than `least` (unless all
 * are so), or after the first `lines` (0: all) become the rest. Rows shown
 * move to the front.
 */
struct flat_rest flat_cut(struct flat *f, double limit, uint64_t least, size_t lines);

/* Names of keys, perf's included: comm, pid, tid, dso, sym, symbol, srcline. */
bool flat_key_parse(const char *name, enum flat_key *key);
const char *flat_key_name(enum flat_key key);
bool flat_has_key(const struct flat *f, enum flat_key key);

/* The address as the file's symbol table has it, and the offset in the file (kernel: address). */
uint64_t flat_address(const struct flat *f, const struct flat_row *row);
uint64_t flat_offset(const struct flat *f, const struct flat_row *row);
enum view_mode flat_mode(const struct flat *f, const struct flat_row *row);
/* The function's name; functions that nothing is known of are one: "[no symbol]". */
const char *flat_function(const struct flat *f, const struct flat_row *row);

#endif
