/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * profile_tables: what the tables over a sampled profile share: the model, its names, and the
 * few numbers that are found out once, when they are first asked for.
 *
 * Ids are the model's own: processes, threads, images, frames and paths as they are there;
 * functions are numbered in the order of frames. profile_model_new(); each part adds its
 * tables, which all have the model for ctx; profile_model_free(). Uses: base, profile, symbol,
 * view.
 */
#ifndef ASSAY_SQL_PROFILE_TABLES_H
#define ASSAY_SQL_PROFILE_TABLES_H

#include "base/hash.h"
#include "base/vec.h"
#include "profile/profile.h"
#include "sql/table.h"
#include "view/view.h"

struct profile_model {
	const struct profile *profile;
	struct view *view;
	VEC(uint32_t) hosts;                /* by host: the first recording made there */
	VEC(const struct symbol *) symbols; /* by function; empty: not asked yet */
	struct id_table symbol_index;
	uint32_t *frame_functions; /* by frame; NULL: not asked yet */
	uint32_t *depths;          /* by path; NULL: not asked yet */
	uint64_t *window_samples;  /* by window; NULL: not asked yet */
	uint32_t *by_window;       /* rows in order of windows; NULL: they are in order */
	bool ordered;              /* that is known */
	const struct ledger_process **process_times; /* by process; NULL: not asked yet */
};

struct profile_model *profile_model_new(const struct profile *p, struct symbolizer *symbols);
void profile_model_free(void *model);

/* The id of the function of a frame; all frames are asked for at the first call. */
uint32_t profile_model_function(struct profile_model *m, uint32_t frame);
/* The host of a recording. */
uint32_t profile_model_host(const struct profile_model *m, uint32_t recording);
/* A recording's clock to ns since 1970; where it does not tell: as it is. */
uint64_t profile_model_wall(const struct profile_model *m, uint32_t recording, uint64_t time_ns);

int profile_tables_add_sessions(struct sql *s, struct profile_model *m, struct error *err);
int profile_tables_add_code(struct sql *s, struct profile_model *m, struct error *err);
int profile_tables_add_samples(struct sql *s, struct profile_model *m, struct error *err);

#endif
