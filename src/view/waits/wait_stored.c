/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/waits/wait_stored.h"

struct wait_report *wait_stored_new(const struct wait_options *o)
{
	struct wait_report *r = xcalloc(1, sizeof(*r));

	r->options = o;
	r->log = &r->stored;
	intern_init(&r->texts);
	r->selection.scope = o->request.filter.comm.count ? WAITS_OF_FILTER : WAITS_OF_ALL;
	r->account.is_closed = true;
	return r;
}

static uint32_t text_of(struct wait_report *r, const char *text)
{
	return *text ? intern_add(&r->texts, text) : 0;
}

/* A thread whose process is not selected is a part of it. */
static bool is_selected(struct wait_report *r, const struct wait_stored *row)
{
	const struct filter_list *comm = &r->options->request.filter.comm;

	if (filter_list_has(comm, row->program, row->program))
		return true;
	if (!filter_list_has(comm, row->waiter, row->waiter))
		return false;
	r->account.is_closed = false;
	return true;
}

static void account(struct wait_account *a, const struct wait_stored *row)
{
	a->count += row->count;
	a->blocked_ns += row->blocked_ns;
	a->runnable_ns += row->runnable_ns;
	a->preempted_ns += row->preempted_ns;
	a->named_ns += row->named ? row->blocked_ns : 0;
	a->other_ns += row->other_ns;
	a->unknown_ns += row->named ? 0 : row->other_ns;
	a->no_stack_ns += row->no_stack_ns;
	a->lost_ns += row->lost_ns;
	a->no_waker_ns += row->no_waker_ns;
}

static void add_row(struct wait_report *r, struct wait_row *to, const struct wait_stored *row)
{
	uint64_t ns = row->blocked_ns + row->runnable_ns;

	to->count += row->count;
	to->blocked_ns += row->blocked_ns;
	to->runnable_ns += row->runnable_ns;
	to->lost_ns += row->lost_ns;
	to->preempted_ns += row->preempted_ns;
	if (row->max_ns > to->max_ns)
		to->max_ns = row->max_ns;
	/* The function of the largest sum; of equal ones the first. */
	if (ns <= to->largest_ns)
		return;
	to->largest_ns = ns;
	to->function = text_of(r, row->function);
}

void wait_stored_add(struct wait_report *r, const struct wait_stored *row,
                     const struct call_times *times)
{
	struct wait_row key = {.place = ID_NONE,
	                       .named = row->named,
	                       .evidence = wait_evidence_parse(row->evidence),
	                       .name = text_of(r, row->name),
	                       .waiter = text_of(r, row->waiter),
	                       .by = text_of(r, row->by),
	                       .holder = text_of(r, row->holder),
	                       .device = text_of(r, row->device)};
	struct wait_row *to;
	uint32_t id;

	if (!is_selected(r, row))
		return;
	if (!wait_kind_parse(row->kind, &key.kind))
		key.kind = WAIT_OTHER;
	id = wait_report_row(r, &key);
	to = &r->rows.items[id];
	account(&r->account, row);
	add_row(r, to, row);
	call_times_merge(&to->times, times);
}

void wait_stored_time(struct wait_report *r, const struct wait_stored_time *time)
{
	struct wait_account *a = &r->account;

	r->stored.wakings += time->wakings;
	r->stored.has_wakings |= time->wakings != 0;
	r->stored.beyond += time->beyond;
	r->stored.coarse += time->coarse;
	if (!filter_list_has(&r->options->request.filter.comm, time->program, time->program))
		return;
	a->threads += time->threads;
	a->wall_ns += time->wall_ns;
	a->oncpu_ns += time->oncpu_ns;
	a->unseen_ns += time->unseen_ns;
	a->before_ns += time->before_ns;
}

void wait_stored_end(struct wait_report *r, uint64_t start_ns, uint64_t end_ns, uint64_t damaged)
{
	r->damaged = damaged;
	r->start_ns = start_ns;
	r->end_ns = end_ns;
	r->account.is_closed &= r->account.wall_ns != 0;
}
