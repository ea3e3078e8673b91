/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/status/status_metrics.h"

#include "base/text/medium_text.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum need { ALWAYS, TICKS, MACHINE, SENDS };

/* A sample of a metric; rows of one metric follow each other. */
struct metric_row {
	const char *name, *type, *help; /* type NULL: another sample of the row above */
	const char *label;              /* further labels; NULL: none */
	size_t offset;
	double scale;
	enum need need;
};

#define ROW(name, type, help, label, field, scale, need)                                           \
	{                                                                                          \
		name, type, help, label, offsetof(struct session_account, field), scale, need      \
	}

static const struct metric_row rows[] = {
        ROW("elapsed_seconds", "counter", "Time since the session began.", NULL, elapsed_ns, 1e-9,
            ALWAYS),
        ROW("samples_total", "counter", "Samples of all events.", NULL, samples, 1, ALWAYS),
        ROW("lost_records_total", "counter", "Records that a full ring buffer lost.", NULL,
            lost_records, 1, ALWAYS),
        ROW("ticks_total", "counter",
            "Ticks of the sampling clock that were due, by what they saw.", "mode=\"user\"",
            ticks_user, 1, TICKS),
        ROW("ticks_total", NULL, NULL, "mode=\"system\"", ticks_system, 1, TICKS),
        ROW("ticks_total", NULL, NULL, "mode=\"idle\"", ticks_idle, 1, MACHINE),
        ROW("ticks_total", NULL, NULL, "mode=\"unobserved\"", ticks_unobserved, 1, MACHINE),
        ROW("period_seconds", "gauge", "Time between two samples of a CPU; 0: no clock.", NULL,
            period_ns, 1e-9, ALWAYS),
        ROW("sample_cost_seconds", "gauge", "CPU time that a sample takes; 0: not measured.", NULL,
            sample_cost_ns, 1e-9, ALWAYS),
        ROW("own_cpu_seconds_total", "counter", "CPU time of the processes of the session.",
            "process=\"sampler\"", observer_cpu_ns, 1e-9, ALWAYS),
        ROW("own_cpu_seconds_total", NULL, NULL, "process=\"sender\"", sender_cpu_ns, 1e-9, SENDS),
        ROW("wakeups_total", "counter", "Times that the sampler was woken.", NULL, observer_wakeups,
            1, ALWAYS),
        ROW("batches", "gauge", "Windows or batches: due = sent + waiting + dropped.",
            "state=\"due\"", batches_due, 1, SENDS),
        ROW("batches", NULL, NULL, "state=\"sent\"", batches_sent, 1, SENDS),
        ROW("batches", NULL, NULL, "state=\"waiting\"", batches_waiting, 1, SENDS),
        ROW("batches", NULL, NULL, "state=\"dropped\"", batches_dropped, 1, SENDS),
        ROW("batch_samples", "gauge", "Samples in them.", "state=\"due\"", samples_due, 1, SENDS),
        ROW("batch_samples", NULL, NULL, "state=\"sent\"", samples_sent, 1, SENDS),
        ROW("batch_samples", NULL, NULL, "state=\"waiting\"", samples_waiting, 1, SENDS),
        ROW("batch_samples", NULL, NULL, "state=\"dropped\"", samples_dropped, 1, SENDS),
        ROW("send_failures_total", "counter", "Attempts to send that failed.", NULL, send_failures,
            1, SENDS),
};

static bool has(const struct session_account *a, enum need need)
{
	switch (need) {
	case TICKS:
		return a->ticks_known;
	case MACHINE:
		return a->ticks_known && a->machine_wide;
	case SENDS:
		return a->spool;
	case ALWAYS:
		break;
	}
	return true;
}

static void begin_row(struct buf *out, const char *name, const struct session_account *a)
{
	buf_addf(out, "assay_%s{session=\"", name);
	medium_text_add(out, MEDIUM_LABEL, a->name ? a->name : "", a->name ? strlen(a->name) : 0);
	buf_putc(out, '"');
}

static void head(struct buf *out, const char *name, const char *type, const char *help)
{
	buf_addf(out, "# HELP assay_%s %s\n# TYPE assay_%s %s\n", name, help, name, type);
}

static void put_row(struct buf *out, const struct metric_row *r, const struct session_account *a)
{
	uint64_t number = *(const uint64_t *)(const void *)((const char *)a + r->offset);

	if (!has(a, r->need))
		return;
	begin_row(out, r->name, a);
	if (r->label)
		buf_addf(out, ",%s", r->label);
	if (r->scale < 1)
		buf_addf(out, "} %.9g\n", (double)number * r->scale);
	else
		buf_addf(out, "} %" PRIu64 "\n", number);
}

/* The state as a number: alerts compare it. */
static void put_states(struct buf *out, const struct session_account *const *accounts, size_t count)
{
	head(out, "up", "gauge", "1: the session runs.");
	for (size_t i = 0; i < count; i++) {
		begin_row(out, "up", accounts[i]);
		buf_addf(out, "} %d\n", accounts[i]->state == SESSION_RUNNING);
	}
	head(out, "send_failing", "gauge", "1: the last attempt to send failed.");
	for (size_t i = 0; i < count; i++) {
		if (!accounts[i]->spool)
			continue;
		begin_row(out, "send_failing", accounts[i]);
		buf_addf(out, "} %d\n", accounts[i]->send_error != NULL);
	}
}

/* All samples of a metric follow its head, as the format demands. */
void status_metrics(struct buf *out, const struct session_account *const *accounts, size_t count)
{
	const size_t all = sizeof(rows) / sizeof(*rows);

	put_states(out, accounts, count);
	for (size_t i = 0, end; i < all; i = end) {
		for (end = i + 1; end < all && !rows[end].type; end++)
			;
		head(out, rows[i].name, rows[i].type, rows[i].help);
		for (size_t a = 0; a < count; a++)
			for (size_t r = i; r < end; r++)
				put_row(out, &rows[r], accounts[a]);
	}
}
