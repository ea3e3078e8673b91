/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wait_report: the waits of the selected threads, summed up by cause.
 *
 * A row is a kind, an object, a waiting thread and the thread that released it; its sums are exact.
 * Percentiles are of the single waits that the log has. The account closes: the time of the threads
 * is on CPU, runnable, blocked, not seen, and a residual.
 *
 * A thread without any record waited all the time: it is a wait of unknown cause, unless all
 * threads of the machine are selected, most of which sleep.
 *
 * The default selection are the processes that were asked for when the recording was made (COMMAND,
 * -p) and their children, else all. Filters select from all. Threads of the kernel are only
 * selected by a filter. wait_report_new() / wait_report_free(); the view and the log must outlive
 * it. One thread. Uses: base, profile, view.
 */
#ifndef ASSAY_VIEW_WAITS_WAIT_REPORT_H
#define ASSAY_VIEW_WAITS_WAIT_REPORT_H

#include "base/memory/intern.h"
#include "profile/calls/call_times.h"
#include "view/request.h"
#include "view/waits/wait_cause.h"
#include "view/waits/wait_select.h"

struct wait_options {
	struct report_request request; /* filters, `instances`: each thread by itself; limits */
	bool all;                      /* not only the processes that were asked for */
	/* For a store: rows and times by the service and the name of the process. */
	bool by_program;
	bool no_addresses; /* names without addresses, which differ between processes */
	/*
	 * Only the parts of waits from this time on are in sums, which the caller has cut;
	 * durations are those of whole waits. 0: all.
	 */
	uint64_t from_ns;
	const struct recording *recording; /* to which the profile does not refer; NULL: none */
};

struct wait_row {
	enum wait_kind kind;
	enum wait_evidence evidence;
	bool named;                /* the object has a name */
	uint32_t name, waiter, by; /* texts of the report; 0: none */
	uint32_t holder;           /* 0: there is no evidence */
	uint32_t device;           /* text: of a file; 0: none, or not known */
	uint32_t service, program; /* texts, with by_program */
	uint32_t function;         /* text, of a stored row; else `place` has it */
	uint64_t count, blocked_ns, runnable_ns, max_ns;
	uint64_t lost_ns; /* of blocked_ns: lost records may hide a part */
	uint64_t preempted_ns, other_ns, no_stack_ns, no_waker_ns; /* as in struct wait_account */
	uint64_t silent_ns;      /* of blocked_ns: of threads without any record */
	uint64_t largest_ns;     /* of the sum in the row from which `place` is */
	uint32_t place;          /* frame of the function that waits; ID_NONE: not known */
	struct call_times times; /* of blocked and runnable time together */
};

/* The time of the selected threads. */
struct wait_account {
	bool is_closed; /* oncpu_ns and the next three are known: processes are selected as a whole
	                 */
	uint64_t threads;   /* with waits, or without any record: */
	uint64_t silent;    /* of threads: off the CPU from the start of the recording to its end */
	uint64_t wall_ns;   /* threads x time */
	uint64_t oncpu_ns;  /* from switch records */
	uint64_t unseen_ns; /* before the first record of each thread */
	uint64_t blocked_ns, runnable_ns;
	uint64_t preempted_ns; /* of runnable_ns: the thread was not blocked before */
	uint64_t before_ns;    /* off the CPU since before the recording: in no row */
	/* Of blocked_ns: with the name of an object; of the rest, with no known cause. */
	uint64_t named_ns, unknown_ns;
	/* Attributes of blocked_ns, of which one wait may have several. */
	uint64_t other_ns, no_stack_ns, lost_ns;
	uint64_t no_waker_ns; /* of blocked_ns: no wake-up was seen, or none came before the end */
	uint64_t count;
};

/* The time of the threads of a service's program, with by_program. */
struct wait_share {
	uint32_t service, program; /* texts; 0: none */
	uint64_t threads, wall_ns, oncpu_ns, unseen_ns, before_ns;
};

struct wait_report {
	struct view *view; /* NULL: the rows come from a store (wait_stored.h) */
	const struct wait_log *log;
	const struct wait_options *options;
	struct wait_causes causes;
	struct intern texts;
	VEC(struct wait_row) rows;
	struct id_table index;
	uint32_t *row_of;      /* per sum: its row; ID_NONE: not selected */
	uint32_t *by_of;       /* per sum: text of the thread that released it; 0: none */
	uint32_t *releaser_of; /* per sum: that thread; ID_NONE: no thread did */
	VEC(uint32_t) births;  /* per thread: index into births of the log, or ID_NONE */
	struct wait_selection selection;
	struct wait_account account;
	VEC(struct wait_share) shares;
	VEC(uint32_t) programs;    /* per process: its share + 1; 0: not sought yet */
	uint64_t start_ns, end_ns; /* of the time of which the report is */
	struct wait_log stored;    /* `log` of rows from a store */
	uint64_t damaged;          /* histograms of the store of which a part could not be read */
};

/* -ENODATA: the recording does not say when threads waited. */
int wait_report_check(const struct profile *p, const char *file, struct error *err);

/* -EINVAL: a filter has a pid or tid that is no number. */
int wait_report_new(struct wait_report **out, struct view *v, const struct wait_log *log,
                    const struct wait_options *o, struct error *err);
void wait_report_free(struct wait_report *r);

/* The time of which shares are: of the account, the summary, the causes and the call paths. */
static inline uint64_t wait_account_whole(const struct wait_account *a)
{
	return a->is_closed ? a->wall_ns : a->blocked_ns + a->runnable_ns;
}

static inline const char *wait_text(const struct wait_report *r, uint32_t text)
{
	return intern_text(&r->texts, text);
}

/*
 * What is known about the waits of a sum, whether its thread is selected or not: `row` gets the
 * texts without figures, `releaser` the thread that ended the waits (ID_NONE: no thread did).
 */
struct wait_cause wait_report_describe(struct wait_report *r, uint32_t sum, struct wait_row *row,
                                       uint32_t *releaser);

/* The row with the key fields of `key`: their texts and kinds; the sums of a new row are 0. */
uint32_t wait_report_row(struct wait_report *r, const struct wait_row *key);

/* The text of a thread: its name, with `instances` also its number. */
uint32_t wait_thread_text(struct wait_report *r, uint32_t thread);

/* The text of a frame's function; 0: no frame, or no name. */
uint32_t wait_function_text(struct wait_report *r, uint32_t frame);

/* A percentile of the waits of a row in ns; NAN: not known. */
double wait_row_percentile(const struct wait_row *row, double part);

#endif
