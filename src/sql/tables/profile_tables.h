/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * profile_tables: the data that all tables of a sampled profile share: the model, its names, and
 * indexes that are computed once, at the first use.
 *
 * Ids of processes, threads, images, frames and paths are the ids of the profile. Functions are
 * numbered in the order of the frames. Life cycle: profile_model_new(); the functions below add
 * the tables, with the model as ctx; profile_model_free(). Uses: base, profile, symbol, view.
 */
#ifndef ASSAY_SQL_TABLES_PROFILE_TABLES_H
#define ASSAY_SQL_TABLES_PROFILE_TABLES_H

#include "base/memory/hash.h"
#include "base/memory/vec.h"
#include "profile/profile.h"
#include "sql/tables/table.h"
#include "view/view.h"

struct profile_model {
	const struct profile *profile;
	struct view *view;
	VEC(uint32_t) hosts;                /* by host: the first recording of it */
	VEC(const struct symbol *) symbols; /* by function; filled with frame_functions */
	struct id_table symbol_index;
	uint32_t *frame_functions; /* by frame; NULL: not computed yet */
	uint32_t *depths;          /* by path; NULL: not computed yet */
	VEC(uint32_t) interrupts;  /* paths in interrupt handlers and softirqs */
	bool has_interrupts;       /* the interrupts are found already */
	VEC(uint32_t) returns;     /* paths of user code after a system call (kernel_exits.h) */
	bool has_returns;          /* they are found already */
	uint64_t *window_samples;  /* by window; NULL: not computed yet */
	uint32_t *by_window;       /* rows sorted by window; NULL: already sorted */
	bool ordered;              /* by_window is final */
	const struct ledger_process **process_times; /* by process; NULL: not computed yet */
};

struct profile_model *profile_model_new(const struct profile *p, struct symbolizer *symbols);
void profile_model_free(void *model);

/* The id of the function of a frame. The first call looks up the functions of all frames. */
uint32_t profile_model_function(struct profile_model *m, uint32_t frame);
/* The host of a recording. */
uint32_t profile_model_host(const struct profile_model *m, uint32_t recording);
/* Converts a time of a recording to ns since 1970; unchanged if the recording has no wall clock. */
uint64_t profile_model_wall(const struct profile_model *m, uint32_t recording, uint64_t time_ns);

int profile_tables_add_sessions(struct sql *s, struct profile_model *m, struct error *err);
int profile_tables_add_code(struct sql *s, struct profile_model *m, struct error *err);
int profile_tables_add_samples(struct sql *s, struct profile_model *m, struct error *err);
int profile_tables_add_waits(struct sql *s, struct profile_model *m, struct error *err);

#endif
