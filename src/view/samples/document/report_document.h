/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report_document: the report on samples as a document.
 *
 * The document refers to the report, which must outlive it; it takes the report's tree over.
 * Nothing fails. One thread. Uses: base, profile, view.
 */
#ifndef ASSAY_VIEW_SAMPLES_DOCUMENT_REPORT_DOCUMENT_H
#define ASSAY_VIEW_SAMPLES_DOCUMENT_REPORT_DOCUMENT_H

#include "view/document/document.h"
#include "view/samples/report.h"

struct report_writing {
	struct document *document;
	struct report *report;
	const struct document_reader *reader;
	struct buf text; /* text of the line that is being made */
};

void report_document(struct document *d, struct report *r, const struct document_reader *reader);

/* The tables of processes and functions, the account and what could not be seen, without a summary:
 * for a screen that is filled again and again. A request for other tables or a tree gets these. */
void report_document_short(struct document *d, struct report *r,
                           const struct document_reader *reader);

/* The tables alone. */
void report_document_tables(struct document *d, struct report *r,
                            const struct document_reader *reader);

/* Of many recordings, only the first few are described one by one. */
size_t report_recordings_shown(const struct profile *p);
/*
 * The number of machines, by their names, of the recordings from `first` on, and their CPUs. A
 * recording without a name does not count.
 */
size_t report_machines(const struct profile *p, size_t first, uint64_t *cpus);
/* Appends what was recorded: "The whole machine, 10.02 s on 2 CPUs", "3 machines, 30.06 s, ..". */
void report_whole_text(const struct report *r, struct buf *out);

/* The parts (report_document_recordings.c, _account.c, _rates.c, _stacks.c, _time.c). */
/* Lines for each recording, for readers; of several recordings with rate, loss and costs of each.
 */
void report_document_recordings(struct report_writing *w);
/* The costs of sampling of a single recording, for readers. */
void report_document_costs(struct report_writing *w);
/* The array "recordings", for programs. */
void report_document_recording_facts(struct report_writing *w);
void report_document_account(struct report_writing *w);
void report_document_ledger(struct report_writing *w);
/* The rates if they changed, the buffers if they were too full. */
void report_document_rates(struct report_writing *w);
/* The quality of call chains, for readers and for programs. */
void report_document_stacks(struct report_writing *w);
void report_document_stack_facts(struct report_writing *w);
/* The CPU use of processes over the time, for readers and for programs. */
void report_document_time(struct report_writing *w);
void report_document_timeline(struct report_writing *w);
/* Rates, buffers, budget and calibration of one recording, for programs. */
void report_document_recording(struct report_writing *w, const struct recording *rec);
/* Appends one sentence; false: there was no budget. */
bool report_document_budget(const struct recording *rec, struct buf *out);
/* The same for the slowdown by sampling; false: its measurement was not requested. */
bool report_document_calibration(const struct recording *rec, struct buf *out);

/* The rates of an event in the recordings of a profile. 0: not known. */
struct report_rates {
	double least_hz, most_hz;
};

struct report_rates report_event_rates(const struct profile *p, const struct profile_event *e);
bool report_rates_differ(const struct report_rates *rates);
/* Appends " at 500 Hz (every 2.000 ms)"; "" if both are 0. */
void report_event_rate(uint64_t frequency_hz, uint64_t period_ns, bool up_to, struct buf *out);

/* The rows of a table; `f` must outlive them (flat_rows.c, delay_rows.c, process_rows.c). */
struct row_set *flat_rows(struct flat *f, const struct report *r,
                          const struct document_reader *reader);
struct row_set *delay_rows(const struct report *r, const struct document_reader *reader);
struct row_set *process_rows(const struct report *r, const struct document_reader *reader);

/* Ends the line in w->text. */
void report_line(struct report_writing *w, const char *label);

#endif
