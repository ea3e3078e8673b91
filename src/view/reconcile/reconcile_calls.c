/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/reconcile/reconcile_sources.h"

#include "base/memory/xalloc.h"
#include "view/calls/call_check.h"

#include <math.h>
#include <stdlib.h>

struct counted_calls {
	struct reconcile_runs *runs;
	uint32_t run;
	const struct call_paths *paths;
	const struct call_process *process;
	const char *process_name;
	struct call_names *names;
	uint32_t *functions; /* per function of the model: id; 0: not made */
	uint32_t *made;      /* per path of the process: its path in the runs */
	double cost_ns;      /* cost of counting one call */
};

static uint32_t function_of(struct counted_calls *c, uint32_t id)
{
	const struct call_function *f = &c->paths->functions.items[id];
	bool kernel = c->process->flags & CALL_KERNEL;
	uint32_t function;

	if (c->functions[id])
		return c->functions[id];
	if (f->kind != CALL_FUNCTION)
		function = reconcile_function(c->runs, call_names_of(c->names, id), "", false);
	else
		function =
		        reconcile_function(c->runs, call_names_of(c->names, id),
		                           image_path(&c->paths->images, f->frame.image), kernel);
	reconcile_set_counted(c->runs, function);
	c->functions[id] = function;
	return function;
}

/* A part of the cost of a call is in the caller's time. */
static void add_caller_cost(struct counted_calls *c, const struct call_path *path)
{
	const struct call_path *parent = &c->process->paths.items[path->parent];
	uint32_t row;

	if (path == c->process->paths.items)
		return;
	row = reconcile_row(c->runs, c->process_name, function_of(c, parent->function));
	reconcile_sum_of(c->runs, c->run, row)->cost_ns += (double)path->calls * c->cost_ns;
}

/* Callers come before callees. */
static void add_path(struct counted_calls *c, uint32_t id)
{
	const struct call_path *path = &c->process->paths.items[id];
	uint32_t row = reconcile_row(c->runs, c->process_name, function_of(c, path->function));
	struct reconcile_sum *sum = reconcile_sum_of(c->runs, c->run, row);
	double scatter = call_error_ns(0, path->is_sampled, path->samples, c->process->sample_ns);

	sum->count += (double)path->calls;
	sum->cpu_ns += path->net_ns;
	/* Samples of different paths are independent, but the error of the compensation is the same
	 * for all paths. */
	sum->error_ns = hypot(sum->error_ns, path->samples ? scatter : 0);
	sum->system_ns += path->net_error_ns;
	sum->cost_ns += (double)path->calls * c->cost_ns;
	sum->blocked_ns += path->blocked_ns + path->preempted_ns;
	sum->switches += (double)(path->blocked_count + path->preempted_count);
	add_caller_cost(c, path);
	c->made[id] = reconcile_path(c->runs, id ? c->made[path->parent] : 0, row, path->net_ns);
}

static void add_account(struct counted_calls *c)
{
	struct call_check check = call_check_of(c->process);
	uint32_t row = reconcile_row(c->runs, c->process_name, reconcile_outside(c->runs));

	vec_push(&c->runs->runs.items[c->run].accounts,
	         (struct reconcile_account){
	                 .process = c->runs->rows.items[row].process,
	                 .own_ns = c->process->own_ns,
	                 .clock_ns = check.cpu_ns,
	                 .residual_ns = check.cpu_residual_ns,
	                 .unseparated = call_check_unseparated(c->process),
	                 .running = (c->process->flags & CALL_RUNNING) != 0,
	         });
}

static void add_process(struct counted_calls *c)
{
	uint64_t calls = call_process_calls(c->process);
	double paired = c->process->inner_ns + c->process->outer_ns;

	c->process_name = intern_text(&c->paths->images.names, c->process->name);
	c->cost_ns = calls ? c->process->own_ns / (double)calls : 0;
	c->cost_ns = fmax(c->cost_ns, isfinite(paired) ? paired : 0);
	c->runs->kernel |= (c->process->flags & CALL_KERNEL) != 0;
	c->made = xcalloc(c->process->paths.count + 1, sizeof(*c->made));
	add_account(c);
	for (uint32_t id = 0; id < c->process->paths.count; id++)
		add_path(c, id);
	free(c->made);
}

void reconcile_add_calls(struct reconcile_runs *t, const char *name, const struct call_paths *p,
                         struct call_names *names)
{
	struct counted_calls c = {.runs = t,
	                          .run = reconcile_runs_add(t, RECONCILE_COUNTED, name),
	                          .paths = p,
	                          .names = names};

	c.functions = xcalloc(p->functions.count + 1, sizeof(*c.functions));
	vec_each (process, &p->processes) {
		c.process = process;
		add_process(&c);
	}
	free(c.functions);
}
