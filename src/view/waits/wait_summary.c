/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The first lines of a report on waits. */
#include "view/waits/wait_document.h"

#include "base/text/base_name.h"
#include "base/text/figure.h"
#include "base/text/plural.h"
#include "view/summary/summary.h"

#include <math.h>
#include <string.h>

/* A waiter, a kind and an object, over all releasers. */
struct wait_group {
	enum wait_kind kind;
	uint32_t name, device, waiter;
	uint64_t ns;
	uint32_t largest; /* row */
	bool several;     /* released by different threads */
};

struct wait_groups {
	VEC(struct wait_group) items;
	struct id_table index;
};

static uint64_t waited_ns(const struct wait_row *row)
{
	return row->blocked_ns + row->runnable_ns;
}

static bool same_group(const void *ctx, uint32_t id, const void *key)
{
	const struct wait_group *a = &((const struct wait_groups *)ctx)->items.items[id], *b = key;

	return a->kind == b->kind && a->name == b->name && a->device == b->device &&
	       a->waiter == b->waiter;
}

static struct wait_group *group_of(struct wait_groups *g, const struct wait_row *row)
{
	const struct wait_group key = {.kind = row->kind,
	                               .name = row->name,
	                               .device = row->device,
	                               .waiter = row->waiter,
	                               .largest = ID_NONE};
	uint64_t hash = hash_pair((uint64_t)key.kind << 32 | key.waiter, key.name);
	uint32_t id = id_table_find(&g->index, hash, same_group, g, &key);

	if (id == ID_NONE) {
		id = (uint32_t)g->items.count;
		id_table_add(&g->index, hash, id);
		vec_push(&g->items, key);
	}
	return &g->items.items[id];
}

static void group(struct wait_groups *g, const struct wait_report *r)
{
	for (uint32_t i = 0; i < r->rows.count; i++) {
		const struct wait_row *row = &r->rows.items[i];
		struct wait_group *to = group_of(g, row);

		to->ns += waited_ns(row);
		to->several |= to->largest != ID_NONE && waited_ns(row) &&
		               r->rows.items[to->largest].by != row->by;
		if (to->largest == ID_NONE ||
		    waited_ns(row) > waited_ns(&r->rows.items[to->largest]))
			to->largest = i;
	}
}

static double group_ns(const void *model, size_t i)
{
	return (double)((const struct wait_groups *)model)->items.items[i].ns;
}

/* "table_lock"; "data.db on vda" of a file whose device is known. */
static void put_object(const struct wait_report *r, const struct wait_group *g, struct buf *out)
{
	const char *name = wait_text(r, g->name);

	if (g->device)
		buf_addf(out, " %s on %s", base_name(name), wait_text(r, g->device));
	else if (g->name)
		buf_addf(out, " %s", name);
}

/* The name of a lock without a variable has the function already. */
static bool ends_with(const char *text, const char *function)
{
	size_t size = strlen(text), end = strlen(function);

	return size > end + 4 && !memcmp(text + size - end - 4, " in ", 4) &&
	       !strcmp(text + size - end, function);
}

/* "lock table_lock, released by worker in rebuild_index, which held it (unlock)". */
static char *reason_text(const struct wait_report *r, const struct wait_group *g)
{
	const struct wait_row *row = &r->rows.items[g->largest];
	struct cell place = wait_row_word(r, row, WAIT_WORD_IN);
	const char *others = g->several ? " and others" : "";
	struct buf text = {0};
	char *copy;

	buf_puts(&text, wait_kind_name(g->kind));
	put_object(r, g, &text);
	if (place.kind == CELL_TEXT && g->kind != WAIT_PAGE_FAULT &&
	    !ends_with(buf_text(&text), place.s))
		buf_addf(&text, " in %s", place.s);
	if (row->by && g->kind == WAIT_CPU)
		buf_addf(&text, ": %s%s ran first", wait_text(r, row->by), others);
	else if (row->by)
		buf_addf(&text, ", released by %s%s", wait_text(r, row->by), others);
	if (row->holder && !g->several)
		buf_addf(&text, ", which held it (%s)", wait_evidence_name(row->evidence));
	copy = xstrdup(buf_text(&text));
	buf_done(&text);
	return copy;
}

static void reasons(struct summary *s, const struct wait_report *r, double whole)
{
	struct wait_groups g = {0};
	size_t largest[SUMMARY_REASONS], count;
	struct summary_reason *reason;

	group(&g, r);
	count = summary_largest(g.items.count, group_ns, &g, largest);
	for (size_t i = 0; i < count; i++) {
		const struct wait_group *of = &g.items.items[largest[i]];

		reason = summary_reason(s, whole > 0 ? (double)of->ns / whole : 0);
		reason->value = cell_int((int64_t)of->ns);
		reason->low = reason->high = NAN;
		reason->process = xstrdup(wait_text(r, r->rows.items[of->largest].waiter));
		reason->function = reason_text(r, of);
	}
	vec_done(&g.items);
	id_table_done(&g.index);
}

static void part(struct summary *s, const char *key, const char *name, uint64_t ns, double whole)
{
	summary_part(s, key, name, cell_int((int64_t)ns), whole > 0 ? (double)ns / whole : 0);
}

static void parts(struct summary *s, const struct wait_account *a, double whole)
{
	if (a->is_closed)
		part(s, "oncpu", "on CPU", a->oncpu_ns, whole);
	part(s, "blocked", "blocked", a->blocked_ns, whole);
	part(s, "runnable", "runnable", a->runnable_ns, whole);
	if (a->is_closed)
		part(s, "unseen", "not seen", a->unseen_ns, whole);
}

static void limit_time(struct summary *s, const char *key, uint64_t ns, uint64_t of,
                       const char *what)
{
	struct buf text = {0};

	/* Less than half a percent is no limit of the figures. */
	if (!of || ns * 200 < of)
		return;
	text_share(&text, (double)ns / (double)of);
	summary_limit(s, key, (double)ns / (double)of, "%s %s", buf_text(&text), what);
	buf_done(&text);
}

static void limits(struct summary *s, const struct wait_report *r)
{
	const struct wait_account *a = &r->account;

	if (!r->log->has_wakings)
		summary_limit(s, "no_wakings", 1,
		              "wake-ups were not recorded, so it is not known who released");
	limit_time(s, "no_stack", a->no_stack_ns, a->blocked_ns,
	           "of blocked time has no stack, so its cause is not known");
	limit_time(s, "other", a->other_ns - a->no_stack_ns, a->blocked_ns,
	           "of blocked time has no known cause");
	limit_time(s, "lost", a->lost_ns, a->blocked_ns,
	           "of blocked time overlaps lost records, and has no releaser (larger buffers: "
	           "record "
	           "--memory)");
	if (a->silent)
		summary_limit_count(s, "silent", a->silent,
		                    "thread did not run during the recording: it waited since "
		                    "before, and it is not known where",
		                    "threads did not run during the recording: they waited since "
		                    "before, and it is not known where");
	if (r->log->beyond)
		summary_limit_count(s, "beyond", r->log->beyond,
		                    "wait is in the sums only, not in percentiles",
		                    "waits are in the sums only, not in percentiles");
	if (r->damaged)
		summary_limit_count(s, "damaged", r->damaged,
		                    "histogram of the store is damaged: percentiles lack its waits",
		                    "histograms of the store are damaged: percentiles lack their "
		                    "waits");
	if (r->log->coarse)
		summary_limit_count(
		        s, "coarse", r->log->coarse, "wait has no path",
		        "waits have no paths, since there were too many different ones");
}

/* A session that records processes by pid has no command, so there is no exit status. */
static const char *targets_words(const struct wait_report *r)
{
	vec_each (recording, &r->view->profile->recordings)
		if ((*recording)->account.exit_status < 0)
			return " of the chosen processes";
	return " of the command";
}

void wait_summary_recorded(const struct wait_report *r, struct buf *out)
{
	const struct wait_account *a = &r->account;

	text_counted(out, a->threads, "thread", "threads");
	buf_puts(out, r->selection.scope == WAITS_OF_TARGETS  ? targets_words(r)
	              : r->selection.scope == WAITS_OF_FILTER ? " by the filters"
	              : r->view                               ? " of the recording"
	                                                      : " of the store");
	buf_puts(out, ", ");
	text_time(out, (int64_t)(r->end_ns - r->start_ns));
	buf_puts(out, ": ");
	text_counted(out, a->count, "wait", "waits");
}

void wait_summary(struct document *d, const struct wait_report *r)
{
	const struct wait_account *a = &r->account;
	uint64_t whole = wait_account_whole(a);
	struct summary s;

	summary_init(&s, &r->options->request.reader, &unit_time, "ns");
	s.whole = cell_int((int64_t)whole);
	s.parts_label = a->is_closed ? "time" : "waits";
	s.share_title = a->is_closed ? "of time" : "of waits";
	s.value_title = "waited";
	wait_summary_recorded(r, &s.recorded);
	parts(&s, a, (double)whole);
	reasons(&s, r, (double)whole);
	limits(&s, r);
	if (r->view)
		summary_next(&s, "waits -g", NULL,
		             "the call paths of waiters, with their wakers below");
	if (r->selection.scope == WAITS_OF_TARGETS)
		summary_next(&s, "waits --all", NULL, "the waits of all processes");
	summary_write(&s, d);
	summary_done(&s);
}
