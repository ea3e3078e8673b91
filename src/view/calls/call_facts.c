/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/calls/call_facts.h"

#include "base/memory/xalloc.h"
#include "base/text/figure.h"
#include "base/text/plural.h"
#include "view/calls/call_check.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>

#define NAMES_MAX 12 /* maximum number of functions named in a sentence */

struct lines {
	struct document *document;
	const struct call_report *report;
	const struct call_process *process;
	struct buf text; /* text of the line that is being made */
	bool unseparated;
};

/* A share with more digits if it is small: "0.029 %". */
static void put_fine_share(const struct unit *unit, struct cell cell, struct buf *out)
{
	double share = cell_number(cell), size = fabs(100 * share);

	if (size < 0.0005)
		buf_puts(out, "0 %");
	else
		buf_addf(out,
		         size >= 10      ? "%.1f %%"
		         : size >= 0.095 ? "%.2f %%"
		                         : "%.3f %%",
		         100 * share);
}

static const struct unit unit_fine_share = {.name = "share", .text = put_fine_share};

static void add_share(struct lines *l, double share)
{
	unit_text_add(&unit_fine_share, cell_real(share), &l->text);
}

/* Ends the line in l->text. */
static void put(struct lines *l, const char *label)
{
	document_line(l->document, label, buf_text(&l->text));
	buf_clear(&l->text);
}

static void add(struct lines *l, const char *before, double ns)
{
	buf_puts(&l->text, before);
	text_fine_time(&l->text, ns);
}

static void flags(struct lines *l)
{
	const char *label = "flags";

	document_array(l->document, "flags");
	for (unsigned bit = 0; bit < CALL_FLAGS; bit++)
		if (l->process->flags & UINT32_C(1) << bit && call_flag_word(bit))
			document_string(l->document, NULL, call_flag_word(bit));
	document_end(l->document);
	for (unsigned bit = 0; bit < CALL_FLAGS; bit++) {
		if (!call_flag_sentence(l->process, bit, &l->text))
			continue;
		put(l, label);
		label = "";
	}
}

static void own_cost(struct lines *l)
{
	const struct call_process *p = l->process;

	add(l, "", p->own_ns);
	if (p->own_error_ns > 0 &&
	    (l->report->request.reader.wide || p->own_error_ns > p->own_ns / 100))
		add(l, " +/- ", p->own_error_ns);
	buf_puts(&l->text, ", ");
	add_share(l, call_check_own_share(p));
	buf_puts(&l->text, " of net + own cost");
	if (p->inner_ns != 0 || p->outer_ns != 0) {
		add(l, "; taken out of each call: ", p->inner_ns);
		add(l, " of its own time and ", p->outer_ns);
		buf_puts(&l->text, " of its caller's");
	}
	put(l, "own cost");
}

/* Times of calls that were counted without the clock. */
static void sampled(struct lines *l)
{
	const struct call_process *p = l->process;
	double net = call_check_net_ns(p);

	if (!p->samples)
		return;
	add_share(l, call_check_share((double)p->samples * p->sample_ns, net));
	buf_puts(&l->text, " of net, by ");
	text_counted(&l->text, p->samples, "sample", "samples");
	add(l, " of the CPU time, each ", p->sample_ns);
	put(l, "sampled");
}

/* Functions in the rest of the table, or with an upper end in place of their time. */
static void unknown(struct lines *l)
{
	struct call_unknown u = call_check_unknown(l->process, l->report->paths->functions.count);

	if (!u.count)
		return;
	add_share(l, call_check_share(u.net_ns, call_check_net_ns(l->process)));
	buf_puts(&l->text, " of net, in ");
	text_counted(&l->text, u.count, "function", "functions");
	buf_puts(&l->text, u.count == 1 ? ": its +/- is more than its net"
	                                : ": the +/- of each is more than its net");
	if (u.count > 1) {
		add(l, "; together ", u.net_ns);
		add(l, " +/- ", u.error_ns);
	}
	put(l, "not known");
}

static void residual(struct lines *l, double ns, double of_ns)
{
	add(l, "; residual ", ns);
	buf_puts(&l->text, " (");
	add_share(l, call_check_share(ns, of_ns));
	buf_puts(&l->text, ")");
}

static void cpu_book(struct lines *l, const struct call_check *b)
{
	if (isnan(b->cpu_ns)) {
		buf_puts(&l->text, "not known: net + own cost cannot be checked");
		put(l, "CPU clock");
		return;
	}
	add(l, "", b->cpu_ns);
	if (l->unseparated) {
		add(l, "; net + own cost are wall times, and ", b->cpu_residual_ns);
		buf_puts(&l->text, " more: waiting that could not be separated");
	} else {
		add(l, " against net ", b->cpu_net_ns);
		add(l, " + own cost ", b->cpu_own_ns);
		residual(l, b->cpu_residual_ns, b->cpu_ns);
	}
	if (b->clockless)
		buf_addf(&l->text, "; without %" PRIu64 " %s whose clock is not known",
		         b->clockless, plural(b->clockless, "thread", "threads"));
	put(l, "CPU clock");
}

static void wall_book(struct lines *l, const struct call_check *b)
{
	add(l, "", b->wall_ns);
	if (b->threads != 1)
		buf_addf(&l->text, " of %" PRIu64 " threads", b->threads);
	add(l, " against net ", b->net_ns);
	add(l, " + own cost ", b->own_ns);
	if (!l->unseparated) {
		add(l, " + blocked ", b->blocked_ns);
		add(l, " + preempted ", b->preempted_ns);
	}
	if (b->tail_ns != 0)
		add(l, " + after the last event ", b->tail_ns);
	residual(l, b->wall_residual_ns, b->wall_ns);
	put(l, "wall");
}

static void counted(struct lines *l)
{
	call_function_list list;

	call_report_counted(l->report, l->process, &list);
	document_array(l->document, "counted");
	vec_each (function, &list)
		document_string(l->document, NULL, call_names_of(l->report->names, *function));
	document_end(l->document);
	for (size_t i = 0; i < list.count && i < NAMES_MAX; i++) {
		buf_puts(&l->text, i ? ", " : "");
		call_names_text(l->report->names, list.items[i], &l->text);
	}
	if (list.count > NAMES_MAX)
		buf_addf(&l->text, " and %zu more", list.count - NAMES_MAX);
	if (list.count)
		buf_puts(&l->text, list.count == 1
		                           ? ": counted, not timed; its time is its callers'"
		                           : ": counted, not timed; their time is their callers'");
	put(l, "counted");
	vec_done(&list);
}

/* A figure of the check of a process or a thread; CELL_NONE: it is not known. */
static struct cell check_cell(const struct call_check *b, size_t at, bool unseparated)
{
	bool waiting = at == offsetof(struct call_check, blocked_ns) ||
	               at == offsetof(struct call_check, preempted_ns);
	double ns = *(const double *)(const void *)((const char *)b + at);

	if (at == offsetof(struct call_check, cpu_residual_ns) && isnan(b->cpu_ns))
		return cell_none();
	return isnan(ns) || (waiting && unseparated) ? cell_none() : cell_real(ns);
}

struct threads {
	const struct call_report *report;
	const struct call_process *process;
	bool unseparated;
};

static struct cell thread_cell(const struct row_source *s, const struct column *c, uint32_t row,
                               struct buf *text)
{
	const struct threads *of = s->model;
	struct call_check b = call_check_thread(&of->process->threads.items[row]);

	return check_cell(&b, c->argument, of->unseparated);
}

static struct cell cpu_share_cell(const struct row_source *s, const struct column *c, uint32_t row,
                                  struct buf *text)
{
	const struct threads *of = s->model;
	struct call_check b = call_check_thread(&of->process->threads.items[row]);

	return isnan(b.cpu_ns) ? cell_none()
	                       : cell_real(call_check_share(b.cpu_residual_ns, b.cpu_ns));
}

static struct cell wall_share_cell(const struct row_source *s, const struct column *c, uint32_t row,
                                   struct buf *text)
{
	const struct threads *of = s->model;
	struct call_check b = call_check_thread(&of->process->threads.items[row]);

	return cell_real(call_check_share(b.wall_residual_ns, b.wall_ns));
}

static struct cell thread_name_cell(const struct row_source *s, const struct column *c,
                                    uint32_t row, struct buf *text)
{
	const struct threads *of = s->model;
	const struct call_thread *t = &of->process->threads.items[row];

	buf_puts(text, intern_text(&of->report->paths->images.names, t->name));
	if (call_check_thread(t).threads > 1)
		buf_addf(text, " (%" PRIu64 " threads)", call_check_thread(t).threads);
	else if (t->tid)
		buf_addf(text, " (%" PRId32 ")", t->tid);
	else
		buf_puts(text, " (ended)");
	return cell_text(buf_text(text));
}

static void thread_json(const struct row_source *s, const struct column *c, uint32_t row,
                        struct json *j)
{
	const struct threads *of = s->model;
	const struct call_thread *t = &of->process->threads.items[row];

	json_kstr(j, "name", intern_text(&of->report->paths->images.names, t->name));
	json_key(j, "tid");
	if (t->tid)
		json_i64(j, t->tid);
	else
		json_null(j);
	json_ku64(j, "threads", t->threads);
}

#define TERM(name_, title_, field)                                                                 \
	{                                                                                          \
		name_, title_, #field, &unit_fine_time,                                            \
		        .get = thread_cell, .argument = offsetof(struct call_check, field)         \
	}

static const struct column thread_columns[] = {
        {"identity", NULL, NULL, &unit_text, .json = thread_json},
        TERM("wall", "wall", wall_ns),
        TERM("cpu", "CPU clock", cpu_ns),
        TERM("net", "net", net_ns),
        TERM("own_cost", "own cost", own_ns),
        TERM("blocked", "blocked", blocked_ns),
        TERM("preempted", "preempted", preempted_ns),
        TERM("tail", "tail", tail_ns),
        TERM("cpu_residual", "CPU residual", cpu_residual_ns),
        {"cpu_residual_share", "", "cpu_residual_share", &unit_fine_share, .get = cpu_share_cell},
        TERM("wall_residual", "wall residual", wall_residual_ns),
        {"wall_residual_share", "", "wall_residual_share", &unit_fine_share,
         .get = wall_share_cell},
        {"thread", "thread", NULL, &unit_text, .get = thread_name_cell},
};

/* Readers get the table of threads only if it is wide. */
static void threads(struct lines *l)
{
	struct threads *of = xcalloc(1, sizeof(*of));
	struct row_source *s = row_source_new(of);
	bool shown = l->report->request.reader.wide && l->process->threads.count;

	*of = (struct threads){l->report, l->process, l->unseparated};
	s->free = free;
	s->rows = (uint32_t)l->process->threads.count;
	s->no_total = true;
	for (size_t i = 0; i < sizeof(thread_columns) / sizeof(*thread_columns); i++)
		vec_push(&s->columns, thread_columns[i]);
	document_table(l->document, shown ? MEDIA_ALL : MEDIA_PROGRAMS, "", "threads",
	               row_set_new(s, &(struct row_request){0}));
}

static void known_real(struct document *d, const char *key, struct cell cell)
{
	if (cell.kind == CELL_NONE)
		document_null(d, key);
	else
		document_real(d, key, cell_number(cell));
}

/* The keys of `books` are those of a thread, with sums. */
static void books(struct lines *l, const struct call_check *b)
{
	struct document *d = l->document;

	document_object(d, "books");
	document_int(d, "threads", (int64_t)b->threads);
	document_int(d, "threads_without_cpu_clock", (int64_t)b->clockless);
	for (size_t i = 0; i < sizeof(thread_columns) / sizeof(*thread_columns); i++)
		if (thread_columns[i].get == thread_cell)
			known_real(d, thread_columns[i].key,
			           check_cell(b, thread_columns[i].argument, l->unseparated));
	known_real(d, "cpu_residual_share",
	           isnan(b->cpu_ns) ? cell_none()
	                            : cell_real(call_check_share(b->cpu_residual_ns, b->cpu_ns)));
	document_real(d, "wall_residual_share", call_check_share(b->wall_residual_ns, b->wall_ns));
	document_end(d);
}

static void identity(struct lines *l)
{
	const struct intern *names = &l->report->paths->images.names;
	const struct call_process *p = l->process;
	struct document *d = l->document;
	struct call_unknown unknown = call_check_unknown(p, l->report->paths->functions.count);
	const struct {
		const char *key;
		double value;
	} times[] = {{"wall_ns", p->wall_ns},
	             {"own_ns", p->own_ns},
	             {"own_error_ns", p->own_error_ns},
	             {"own_share", call_check_own_share(p)},
	             {"inner_ns", p->inner_ns},
	             {"outer_ns", p->outer_ns},
	             {"sample_ns", p->sample_ns},
	             {"unknown_ns", unknown.net_ns},
	             {"unknown_error_ns", unknown.error_ns}};
	const struct {
		const char *key;
		uint64_t value;
	} counts[] = {{"start_ns", p->start_ns},
	              {"lost_events", p->lost_events},
	              {"other_calls", p->other_calls},
	              {"unmatched_exits", p->unmatched_exits},
	              {"resyncs", p->resyncs},
	              {"deferred", p->deferred},
	              {"uncounted_children", p->uncounted},
	              {"table_bytes", p->table_bytes},
	              {"samples", p->samples},
	              {"own_samples", p->own_samples}};

	document_string(d, "name", intern_text(names, p->name));
	document_int(d, "pid", p->pid);
	document_int(d, "parent", p->parent);
	document_string_or_null(d, "command", intern_text(names, p->command));
	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++)
		document_real(d, times[i].key, times[i].value);
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
		document_int(d, counts[i].key, (int64_t)counts[i].value);
	document_bool(d, "waiting_separated", !l->unseparated);
	document_line(d, "command", intern_text(names, p->command));
}

static void heading(struct lines *l)
{
	const struct call_process *p = l->process;

	buf_puts(&l->text, intern_text(&l->report->paths->images.names, p->name));
	buf_addf(&l->text, " (pid %" PRId32 ")", p->pid);
	add(l, ", wall ", p->wall_ns);
	add(l, ", net ", call_check_net_ns(p));
	document_heading(l->document, "%s", buf_text(&l->text));
	buf_clear(&l->text);
}

void call_facts(struct document *d, const struct call_report *r, const struct call_process *p)
{
	struct lines l = {.document = d, .report = r, .process = p};
	struct call_check b = call_check_of(p);

	l.unseparated = call_check_unseparated(p);
	heading(&l);
	identity(&l);
	flags(&l);
	own_cost(&l);
	sampled(&l);
	unknown(&l);
	if (p->threads.count) {
		cpu_book(&l, &b);
		wall_book(&l, &b);
	}
	books(&l, &b);
	counted(&l);
	threads(&l);
	buf_done(&l.text);
}
