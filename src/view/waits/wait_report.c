/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/waits/wait_report.h"

#include "process/process_labels.h"
#include "view/waits/wait_device.h"
#include "view/waits/wait_object.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

static uint32_t text_of(struct wait_report *r, struct buf *text)
{
	uint32_t id = text->size ? intern_add(&r->texts, buf_text(text)) : 0;

	buf_clear(text);
	return id;
}

/* Threads of the kernel that differ only in a number are one. */
static size_t name_length(const char *name)
{
	static const char *const numbered[] = {"kworker/", "ksoftirqd/", "rcuop/", "migration/"};

	for (size_t i = 0; i < sizeof(numbered) / sizeof(*numbered); i++)
		if (!strncmp(name, numbered[i], strlen(numbered[i])))
			return strlen(numbered[i]) - 1;
	return strlen(name);
}

static void put_thread(const struct wait_report *r, uint32_t id, struct buf *out)
{
	const struct process_table *t = r->view->profile->processes;
	const struct thread *thread = process_table_thread_at(t, id);
	const char *name = process_table_name(t, thread->name);

	if (r->options->request.instances)
		buf_addf(out, "%s:%" PRId32, name, thread->tid);
	else
		buf_add(out, name, name_length(name));
}

uint32_t wait_thread_text(struct wait_report *r, uint32_t thread)
{
	struct buf text = {0};
	uint32_t id;

	put_thread(r, thread, &text);
	id = text_of(r, &text);
	buf_done(&text);
	return id;
}

uint32_t wait_function_text(struct wait_report *r, uint32_t frame)
{
	const struct symbol *symbol = frame == ID_NONE ? NULL : view_function(r->view, frame);

	return symbol && symbol->named ? intern_add(&r->texts, symbol->name) : 0;
}

static void put_place(const struct wait_report *r, uint32_t frame, struct buf *out)
{
	const struct symbol *symbol;

	if (frame == ID_NONE)
		return;
	symbol = view_function(r->view, frame);
	if (symbol->named)
		buf_addf(out, " in %s", symbol->name);
}

static bool same_row(const void *ctx, uint32_t id, const void *key)
{
	const struct wait_row *a = &((const struct wait_report *)ctx)->rows.items[id], *b = key;

	return a->kind == b->kind && a->evidence == b->evidence && a->name == b->name &&
	       a->waiter == b->waiter && a->by == b->by && a->holder == b->holder &&
	       a->device == b->device && a->named == b->named && a->service == b->service &&
	       a->program == b->program;
}

uint32_t wait_report_row(struct wait_report *r, const struct wait_row *key)
{
	uint64_t hash = hash_pair((uint64_t)key->kind << 32 | key->name,
	                          (uint64_t)key->waiter << 32 | key->by);
	uint32_t id = id_table_find(&r->index, hash, same_row, r, key);

	if (id != ID_NONE)
		return id;
	id = (uint32_t)r->rows.count;
	id_table_add(&r->index, hash, id);
	vec_push(&r->rows, *key);
	return id;
}

/* Sets the texts about the thread that ended the wait; returns it, ID_NONE: no thread did. */
static uint32_t set_releaser(struct wait_report *r, const struct wait_key *key,
                             const struct wait_cause *cause, struct wait_row *row, struct buf *text)
{
	struct wait_waker waker = wait_waker_of(&r->causes, key, cause);
	uint32_t thread = waker.is_thread ? key->waker : ID_NONE;

	if (thread != ID_NONE) {
		put_thread(r, thread, text);
		row->evidence = waker.evidence;
		if (row->evidence != EVIDENCE_NONE)
			row->holder = intern_add(&r->texts, buf_text(text));
		put_place(r, waker.place, text);
	} else if (key->woken == WAIT_BY_INTERRUPT) {
		buf_puts(text, "[interrupt]");
	} else if (key->woken == WAIT_BY_SOFTIRQ) {
		buf_puts(text, "[softirq]");
	}
	row->by = text_of(r, text);
	return thread;
}

/* The share of a process, which is made at its first wait. */
static struct wait_share *share_of(struct wait_report *r, uint32_t process)
{
	const struct process_table *t = r->view->profile->processes;
	const struct process *p = process_table_process(t, process);
	struct wait_share made = {0};
	char *service;
	size_t i = 0;

	if (*vec_at(&r->programs, process))
		return &r->shares.items[r->programs.items[process] - 1];
	service = process_service(t, p);
	made.service = intern_add(&r->texts, service);
	made.program = intern_add(&r->texts, process_table_name(t, p->name));
	free(service);
	while (i < r->shares.count && (r->shares.items[i].service != made.service ||
	                               r->shares.items[i].program != made.program))
		i++;
	if (i == r->shares.count)
		vec_push(&r->shares, made);
	r->programs.items[process] = (uint32_t)i + 1;
	return &r->shares.items[i];
}

static uint32_t process_of(const struct wait_report *r, uint32_t thread)
{
	return process_table_thread_at(r->view->profile->processes, thread)->process;
}

static void set_program(struct wait_report *r, uint32_t thread, struct wait_row *row)
{
	const struct wait_share *share;

	if (!r->options->by_program)
		return;
	share = share_of(r, process_of(r, thread));
	row->service = share->service;
	row->program = share->program;
}

static void add_sum(struct wait_row *row, const struct wait_sum *sum, uint32_t place)
{
	uint64_t ns = sum->blocked_ns + sum->runnable_ns;

	row->count += sum->count;
	row->blocked_ns += sum->blocked_ns;
	row->runnable_ns += sum->runnable_ns;
	if (sum->key.lost)
		row->lost_ns += sum->blocked_ns;
	if (sum->key.woken == WAIT_PREEMPTED)
		row->preempted_ns += sum->runnable_ns;
	if (sum->key.woken == WAIT_NOT_SEEN || sum->key.woken == WAIT_OPEN)
		row->no_waker_ns += sum->blocked_ns;
	if (sum->max_ns > row->max_ns)
		row->max_ns = sum->max_ns;
	if (ns < row->largest_ns)
		return;
	row->largest_ns = ns;
	row->place = place;
}

static void account_sum(struct wait_account *a, const struct wait_sum *sum,
                        const struct wait_cause *cause, bool named)
{
	a->count += sum->count;
	a->blocked_ns += sum->blocked_ns;
	a->runnable_ns += sum->runnable_ns;
	if (sum->key.woken == WAIT_PREEMPTED)
		a->preempted_ns += sum->runnable_ns;
	if (named)
		a->named_ns += sum->blocked_ns;
	/* Waits without a stack because of lost records are not of unknown cause. */
	if (cause->kind == WAIT_OTHER && !(cause->no_stack && sum->key.lost)) {
		a->other_ns += sum->blocked_ns;
		a->unknown_ns += named ? 0 : sum->blocked_ns;
	}
	if (cause->no_stack && !sum->key.lost)
		a->no_stack_ns += sum->blocked_ns;
	if (sum->key.lost)
		a->lost_ns += sum->blocked_ns;
	if (sum->key.woken == WAIT_NOT_SEEN || sum->key.woken == WAIT_OPEN)
		a->no_waker_ns += sum->blocked_ns;
}

/* What is only known with the cause. */
static void add_unknown(struct wait_row *row, const struct wait_sum *sum,
                        const struct wait_cause *cause)
{
	if (cause->kind == WAIT_OTHER && !(cause->no_stack && sum->key.lost))
		row->other_ns += sum->blocked_ns;
	if (cause->no_stack && !sum->key.lost)
		row->no_stack_ns += sum->blocked_ns;
}

static bool is_wait(struct wait_report *r, const struct wait_key *key)
{
	return r->selection.selected[key->thread] && !key->since_start &&
	       !(key->woken == WAIT_OPEN && wait_path_is_exit(&r->causes, key->path));
}

/* A new thread is off the CPU from its creation to its first run. */
static bool is_start(const struct wait_report *r, const struct wait_key *key)
{
	uint32_t birth = key->thread < r->births.count ? r->births.items[key->thread] : ID_NONE;
	const struct wait_birth *b;

	if (birth == ID_NONE || key->path != r->log->unknown_path)
		return false;
	b = &r->log->births.items[birth];
	return b->parent == key->waker && b->parent_path == key->waker_path;
}

static void index_births(struct wait_report *r)
{
	for (uint32_t i = 0; i < r->log->births.count; i++) {
		uint32_t thread = r->log->births.items[i].thread;

		while (r->births.count <= thread)
			vec_push(&r->births, ID_NONE);
		r->births.items[thread] = i;
	}
}

static struct wait_cause cause_of(struct wait_report *r, const struct wait_key *key)
{
	if (is_start(r, key))
		return (struct wait_cause){.kind = WAIT_CPU,
		                           .object = "start of the thread",
		                           .call = ID_NONE,
		                           .place = ID_NONE,
		                           .lock = ID_NONE};
	return wait_cause_of(&r->causes, key, wait_descriptor_name(r->log, key));
}

static uint32_t device_text(struct wait_report *r, const struct wait_key *key,
                            const struct wait_cause *cause)
{
	const char *fault = wait_fault_file(r->log, key, cause);
	const char *name = wait_device_name(&r->causes, key, cause,
	                                    fault ? fault : wait_descriptor_name(r->log, key));

	return name ? intern_add(&r->texts, name) : 0;
}

struct wait_cause wait_report_describe(struct wait_report *r, uint32_t id, struct wait_row *row,
                                       uint32_t *releaser)
{
	const struct wait_sum *sum = &r->log->sums.items[id];
	struct wait_cause cause = cause_of(r, &sum->key);
	struct buf text = {0};

	*row = (struct wait_row){.kind = cause.kind, .place = ID_NONE};
	row->named = wait_object_name(&r->causes, r->log, &sum->key, &cause, &text);
	row->name = text_of(r, &text);
	row->device = device_text(r, &sum->key, &cause);
	put_thread(r, sum->key.thread, &text);
	row->waiter = text_of(r, &text);
	set_program(r, sum->key.thread, row);
	*releaser = set_releaser(r, &sum->key, &cause, row, &text);
	buf_done(&text);
	return cause;
}

static void add_cause(struct wait_report *r, uint32_t id)
{
	const struct wait_sum *sum = &r->log->sums.items[id];
	struct wait_row key;
	struct wait_cause cause = wait_report_describe(r, id, &key, &r->releaser_of[id]);

	r->by_of[id] = key.by;
	account_sum(&r->account, sum, &cause, key.named);
	r->row_of[id] = wait_report_row(r, &key);
	/* The rows of preempted threads depend on the thread that ran instead. */
	if (sum->key.woken != WAIT_PREEMPTED)
		add_sum(&r->rows.items[r->row_of[id]], sum, cause.place);
	add_unknown(&r->rows.items[r->row_of[id]], sum, &cause);
}

/* The row of a preempted thread, by the thread that ran instead. */
static uint32_t preempted_row(struct wait_report *r, uint32_t row, uint32_t instead,
                              struct buf *text)
{
	struct wait_row key = r->rows.items[row];

	key = (struct wait_row){.kind = key.kind,
	                        .named = key.named,
	                        .name = key.name,
	                        .waiter = key.waiter,
	                        .service = key.service,
	                        .program = key.program,
	                        .place = ID_NONE};
	if (instead != ID_NONE)
		put_thread(r, instead, text);
	key.by = text_of(r, text);
	return wait_report_row(r, &key);
}

static void add_single(struct wait_report *r, const struct wait *w, struct wait_sum *rest,
                       struct buf *text)
{
	const struct wait_sum *sum = &r->log->sums.items[w->sum];
	uint64_t ns = w->in_ns - w->out_ns, from_ns = r->options->from_ns;
	uint64_t part_ns = w->out_ns < from_ns ? w->in_ns - from_ns : ns;
	uint32_t row = r->row_of[w->sum];

	if (row == ID_NONE)
		return;
	if (sum->key.woken == WAIT_PREEMPTED) {
		row = preempted_row(r, row, w->instead, text);
		add_sum(&r->rows.items[row],
		        &(struct wait_sum){.key.woken = WAIT_PREEMPTED,
		                           .count = 1,
		                           .runnable_ns = part_ns,
		                           .max_ns = ns},
		        ID_NONE);
		rest[w->sum].count++;
		rest[w->sum].runnable_ns += part_ns;
	}
	call_times_count(&r->rows.items[row].times, (double)ns, 1);
	r->rows.items[row].times.timed++;
	r->rows.items[row].times.squares++;
}

/* Single waits: percentiles, and who ran instead. */
static void add_singles(struct wait_report *r, struct buf *text)
{
	struct wait_sum *rest = xcalloc(r->log->sums.count + 1, sizeof(*rest));

	vec_each (w, &r->log->waits)
		add_single(r, w, rest, text);
	/* Waits beyond those of the log. */
	for (size_t i = 0; i < r->log->sums.count; i++) {
		struct wait_sum sum = r->log->sums.items[i];

		if (r->row_of[i] == ID_NONE || sum.key.woken != WAIT_PREEMPTED ||
		    (sum.count <= rest[i].count && sum.runnable_ns <= rest[i].runnable_ns))
			continue;
		sum.count -= sum.count < rest[i].count ? sum.count : rest[i].count;
		sum.runnable_ns -= sum.runnable_ns < rest[i].runnable_ns ? sum.runnable_ns
		                                                         : rest[i].runnable_ns;
		add_sum(&r->rows.items[r->row_of[i]], &sum, ID_NONE);
	}
	free(rest);
}

static void count_threads(struct wait_report *r)
{
	const struct process_table *t = r->view->profile->processes;
	size_t threads = process_table_thread_count(t);
	uint8_t *seen = xcalloc(threads + 1, 1);

	vec_each (sum, &r->log->sums)
		if (r->selection.selected[sum->key.thread])
			seen[sum->key.thread] = 1;
	for (uint32_t i = 0; i < threads; i++) {
		r->account.threads += seen[i];
		if (seen[i] && r->options->by_program)
			share_of(r, process_of(r, i))->threads++;
	}
	free(seen);
}

/* 1: all threads of the process are selected; 0: none; -1: some. */
static int selected_part(const struct wait_report *r, const int8_t *parts, uint32_t process)
{
	return parts[process] == 3 ? -1 : parts[process] == 1;
}

static void share_process(struct wait_share *share, const struct ledger_process *process)
{
	share->wall_ns += process->wall_ns;
	share->oncpu_ns += process->oncpu_ns;
	share->unseen_ns += process->unknown_ns;
}

/* The figures of whole processes, which the ledger has. */
static void account_processes(struct wait_report *r)
{
	const struct profile *p = r->view->profile;
	size_t threads = process_table_thread_count(p->processes);
	int8_t *parts = xcalloc(process_table_process_count(p->processes) + 1, 1);
	struct wait_account *a = &r->account;

	for (uint32_t i = 0; i < threads; i++) {
		const struct thread *thread = process_table_thread_at(p->processes, i);

		if (thread->tid >= 0)
			parts[thread->process] |= r->selection.selected[i] ? 1 : 2;
	}
	a->is_closed = p->ledger.processes.count != 0;
	vec_each (process, &p->ledger.processes) {
		int part = selected_part(r, parts, process->process);

		a->is_closed &= part >= 0;
		if (part != 1)
			continue;
		a->wall_ns += process->wall_ns;
		a->oncpu_ns += process->oncpu_ns;
		a->unseen_ns += process->unknown_ns;
		if (r->options->by_program)
			share_process(share_of(r, process->process), process);
	}
	free(parts);
}

static void add_before(struct wait_report *r, const struct wait_sum *sum)
{
	uint64_t ns = sum->blocked_ns + sum->runnable_ns;

	r->account.before_ns += ns;
	if (r->options->by_program)
		share_of(r, process_of(r, sum->key.thread))->before_ns += ns;
}

/* One wait without a place, which began before the recording and lasted to its end. */
static void add_silent_thread(struct wait_report *r, uint32_t thread)
{
	uint64_t ns = r->log->end_ns - r->log->start_ns;
	struct wait_row key = {.kind = WAIT_OTHER, .place = ID_NONE}, *row;
	const struct wait_sum sum = {.key = {.woken = WAIT_OPEN, .lost = r->log->silent_lost},
	                             .count = 1,
	                             .blocked_ns = ns,
	                             .max_ns = ns};
	const struct wait_cause cause = {.kind = WAIT_OTHER, .no_stack = true};
	uint32_t id;

	key.name = intern_add(&r->texts, "since before the recording");
	key.waiter = wait_thread_text(r, thread);
	set_program(r, thread, &key);
	id = wait_report_row(r, &key);
	row = &r->rows.items[id];
	account_sum(&r->account, &sum, &cause, false);
	add_sum(row, &sum, ID_NONE);
	add_unknown(row, &sum, &cause);
	call_times_count(&row->times, (double)ns, 1);
	row->times.timed++;
	row->times.squares++;
	row->silent_ns += ns;
	r->account.threads++;
	r->account.silent++;
	if (!r->log->silent_in_ledger)
		r->account.wall_ns += ns;
	if (!r->options->by_program)
		return;
	share_of(r, process_of(r, thread))->threads++;
	if (!r->log->silent_in_ledger)
		share_of(r, process_of(r, thread))->wall_ns += ns;
}

static void add_silent(struct wait_report *r)
{
	if (r->selection.scope == WAITS_OF_ALL)
		return;
	vec_each (thread, &r->log->silent)
		if (r->selection.selected[*thread])
			add_silent_thread(r, *thread);
}

static void sum_up(struct wait_report *r)
{
	struct buf text = {0};

	index_births(r);
	r->row_of = xcalloc(r->log->sums.count + 1, sizeof(*r->row_of));
	r->by_of = xcalloc(r->log->sums.count + 1, sizeof(*r->by_of));
	r->releaser_of = xcalloc(r->log->sums.count + 1, sizeof(*r->releaser_of));
	for (uint32_t i = 0; i < r->log->sums.count; i++) {
		const struct wait_sum *sum = &r->log->sums.items[i];

		r->row_of[i] = r->releaser_of[i] = ID_NONE;
		if (r->selection.selected[sum->key.thread] && sum->key.since_start)
			add_before(r, sum);
		if (is_wait(r, &sum->key))
			add_cause(r, i);
	}
	add_singles(r, &text);
	count_threads(r);
	account_processes(r);
	add_silent(r);
	buf_done(&text);
}

int wait_report_check(const struct profile *p, const char *file, struct error *err)
{
	vec_each (event, &p->events)
		if (event->role == ATTR_SWITCH)
			return 0;
	/* Without the right to sample the kernel, there are records of switches alone. */
	if (p->waits.sums.count)
		return 0;
	return error_set(err, ENODATA,
	                 "%s has no switches of threads: record it with 'assay record --waits'",
	                 file);
}

int wait_report_new(struct wait_report **out, struct view *v, const struct wait_log *log,
                    const struct wait_options *o, struct error *err)
{
	struct wait_report *r = xcalloc(1, sizeof(*r));
	int ret;

	r->view = v;
	r->log = log;
	r->options = o;
	intern_init(&r->texts);
	wait_causes_init(&r->causes, v);
	r->causes.no_addresses = o->no_addresses;
	profile_span(v->profile, &r->start_ns, &r->end_ns);
	ret = wait_select(&r->selection, v->profile, &o->request.filter, o->all, err);
	if (ret) {
		wait_report_free(r);
		return ret;
	}
	if (o->recording)
		wait_selection_without(&r->selection, v->profile, o->recording);
	sum_up(r);
	*out = r;
	return 0;
}

void wait_report_free(struct wait_report *r)
{
	if (!r)
		return;
	vec_each (row, &r->rows)
		call_times_done(&row->times);
	vec_done(&r->rows);
	vec_done(&r->births);
	vec_done(&r->shares);
	vec_done(&r->programs);
	id_table_done(&r->index);
	intern_done(&r->texts);
	if (r->view)
		wait_causes_done(&r->causes);
	free(r->row_of);
	free(r->by_of);
	free(r->releaser_of);
	wait_selection_done(&r->selection);
	free(r);
}

double wait_row_percentile(const struct wait_row *row, double part)
{
	uint64_t unknown = row->count > row->times.timed ? row->count - row->times.timed : 0;

	return call_times_percentile_between(&row->times, unknown, part, NAN, (double)row->max_ns);
}
