/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report: the parts of the standard report, as plain data for any output.
 *
 * report_new() selects, groups and accounts. report_document() makes a document of it.
 * report_free(). Shares are 0 to 1, times are ns. Uses: base, profile, symbol, view.
 */
#ifndef ASSAY_VIEW_SAMPLES_REPORT_H
#define ASSAY_VIEW_SAMPLES_REPORT_H

#include "view/account/account.h"
#include "view/delay/delays.h"
#include "view/filter.h"
#include "view/samples/flat.h"
#include "view/samples/processes.h"
#include "view/samples/stacks.h"
#include "view/samples/sample_tree.h"
#include "view/samples/sample_without.h"
#include "view/samples/timeline.h"
#include "view/samples/warnings.h"
#include "view/tree/neighbour_tables.h"

/* The cost of the recording, as written by the recorder. */
struct report_observer {
	bool present;  /* all of it is known */
	bool part;     /* only a part of a recording was read; the account does not cover parts */
	bool switches; /* with `part`: cpu_ns is known, from switch records */
	uint64_t cpu_ns, start_cpu_ns, bytes, wakeups;
	uint64_t flush_asked_ns, flushes, flush_cpu_ns; /* as in the account; the last interval */
	uint64_t samples;                               /* samples of the recorder itself */
	uint64_t lost;
	uint64_t reads_unanswered, reads_not_made; /* reads of other processes' memory and files */
	double share; /* cpu_ns as a share of the time of the machine (or of the command) */
};

struct report_process {
	uint32_t name; /* intern id */
	double share;
	uint32_t instances;
	struct flat *user, *kernel; /* NULL: no samples; shares are of this table's total */
};

struct report {
	struct report_request options;
	struct view *view;
	struct selection selection;
	struct sample_without *without; /* NULL: nothing is removed */
	uint8_t event;
	uint64_t elapsed_ns; /* sum over all recordings */
	struct account_view *account;
	struct report_observer observer;
	struct stacks stacks;
	uint64_t paths; /* number of different paths of the selected samples */
	struct processes *processes;
	struct timeline *timeline;  /* NULL: the time is not known, or too short */
	struct flat *reasons;       /* rows of the summary; NULL: not made yet */
	struct flat *functions;     /* image, function, mode */
	struct kernel_exits *exits; /* of the selection */
	struct delays *delays;      /* kernel time with interrupts off; NULL: not requested */
	struct flat *kernel;        /* all kernel time, interrupts included; NULL: none */
	VEC(struct report_process) tables;
	struct flat *rows;      /* by options.keys, or NULL */
	struct view_tree *tree; /* or NULL */
	struct neighbour_tables neighbours;
	bool off_cpu;          /* switched-out stacks were recorded */
	warning_list warnings; /* sentences: what was not seen, and why */
};

/* -ENOENT if the event was not recorded, or the function of callers or callees. `symbols` and `p`
 * must outlive the report. */
int report_new(struct report **out, const struct profile *p, struct symbolizer *symbols,
               const struct report_request *options, struct error *err);
void report_free(struct report *r);

const struct profile_event *report_event(const struct report *r);
/* A sentence on code that the event's timer cannot sample; NULL: none is known. */
const char *report_event_caveat(const struct report *r);

#endif
