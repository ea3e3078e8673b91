/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flat: rows of a profile grouped by any list of keys.
 *
 * flat_new() groups and sums; the groups are in no order. flat_rows() (report_document.h) sorts and
 * cuts them. Shares are 0 to 1 of the selection's base. With `children`, a group's total includes
 * each row whose path passes through the group, once per row. Off-CPU time is counted for the
 * function that waited, not for the scheduler below it. flat_free() frees; the view must outlive
 * it. Uses: base, profile, view.
 */
#ifndef ASSAY_VIEW_SAMPLES_FLAT_H
#define ASSAY_VIEW_SAMPLES_FLAT_H

#include "base/memory/buf.h"
#include "view/request.h"

struct flat_request {
	enum flat_key keys[FLAT_KEYS];
	size_t key_count;
	const char *const *labels;            /* names of FLAT_LABEL and the next keys */
	struct group_rules *rules;            /* for FLAT_GROUP */
	const struct sample_without *without; /* what is removed; NULL: nothing */
	bool children;
	bool intervals; /* compute low and high of all rows */
	bool groups;    /* keep what flat_intervals() needs */
};

struct flat_row {
	uint32_t example;                     /* the first profile row of this group */
	uint32_t path;                        /* path of that row, up to the frame */
	uint32_t frame;                       /* a frame of this group, ID_NONE: the path is
	                                       * empty */
	const char *inlined;                  /* the function that is inlined there; NULL: the
	                                       * function of the frame */
	uint32_t mark;                        /* scratch: last profile row that was added */
	uint64_t samples, weight;             /* self */
	uint64_t total_samples, total_weight; /* with callees; without children equal to self */
	/* Parts of the self and the total values that are removed. */
	uint64_t removed_samples, removed_weight, removed_total_samples, removed_total_weight;
	uint64_t runnable_ns, blocked_ns;
	double share, total_share, low, high; /* low and high are for `share` */
	/* with intervals: shares of busy samples by the clock and by the second clock, if the
	 * difference is beyond chance; else both are 0 */
	double step_clock, step_witness;
};

struct flat {
	struct view *view;
	struct flat_request request;
	VEC(struct flat_row) rows;
	uint64_t samples, weight, runnable_ns, blocked_ns; /* of all rows */
	uint64_t base_samples, base_weight;
	bool has_waits;
	uint32_t *group_of;          /* with request.groups: per profile row */
	struct frame_groups *groups; /* with FLAT_GROUP */
	uint64_t least;              /* rows with fewer samples are not shown; set by flat_rows() */
};

/* Groups the rows and waits of the selection. */
struct flat *flat_new(struct view *v, const struct selection *s,
                      const struct flat_request *request);
void flat_free(struct flat *f);

/* Computes low and high only of these rows, which is faster than for all rows. */
void flat_intervals(struct flat *f, const struct selection *s, const size_t *rows, size_t count);

/* Keeps only these rows, in this order. */
void flat_keep(struct flat *f, const size_t *rows, size_t count);

/* A time as a share of the selection's base; by the samples if the base has no time. */
double flat_share(const struct flat *f, uint64_t weight, uint64_t samples);

bool flat_has_key(const struct flat *f, enum flat_key key);

/* The address as in the file's symbol table; the offset in the file (kernel: the address). */
uint64_t flat_address(const struct flat *f, const struct flat_row *row);
uint64_t flat_offset(const struct flat *f, const struct flat_row *row);
enum view_mode flat_mode(const struct flat *f, const struct flat_row *row);
/* The function's name; "[no symbol]" for all functions without a symbol. */
const char *flat_function(const struct flat *f, const struct flat_row *row);

#endif
