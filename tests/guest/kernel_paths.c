/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts the kernel calls of a command and prints the model, for tests in a guest:
 *
 *	kernel_paths [-b BUFFER_KB] [-f FUNCTION]... COMMAND...
 *
 * Lines of tab-separated words: "run" (events, lost, cost known, exit status),
 * "process" (pid, parent, name, flags, lost, unmatched, resyncs, wall, own),
 * "thread" (tid, name, wall, net, own, blocked, preempted, tail, residual) and
 * "path" (calls, net, error, blocked, times, preempted, times, min, max, open,
 * then the functions' names from the root on).
 */
#include "launch/calls/kernel_calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *name_of(const struct call_paths *c, uint32_t function)
{
	static const char *const kinds[] = {"?", "(outside)", "(other)", "(interrupt)"};
	const struct call_function *f = &c->functions.items[function];

	return f->kind == CALL_FUNCTION && f->name ? intern_text(&c->images.names, f->name)
	                                           : kinds[f->kind];
}

static void print_path(const struct call_paths *c, const struct call_process *p, uint32_t index)
{
	const struct call_path *path = &p->paths.items[index];
	uint32_t chain[256];
	size_t depth = call_path_chain(p, index, chain, 256);

	printf("path\t%llu\t%.1f\t%.1f\t%.1f\t%llu\t%.1f\t%llu\t%.1f\t%.1f\t%u",
	       (unsigned long long)path->calls, path->net_ns, path->net_error_ns, path->blocked_ns,
	       (unsigned long long)path->blocked_count, path->preempted_ns,
	       (unsigned long long)path->preempted_count, path->min_ns, path->max_ns, path->open);
	for (size_t i = 0; i < depth; i++)
		printf("\t%s", name_of(c, p->paths.items[chain[i]].function));
	printf("\n");
}

static void print_process(const struct call_paths *c, const struct call_process *p)
{
	printf("process\t%d\t%d\t%s\t%u\t%llu\t%llu\t%llu\t%.1f\t%.1f\t%.2f\t%.2f\n", p->pid,
	       p->parent, intern_text(&c->images.names, p->name), p->flags,
	       (unsigned long long)p->lost_events, (unsigned long long)p->unmatched_exits,
	       (unsigned long long)p->resyncs, p->wall_ns, p->own_ns, p->inner_ns, p->outer_ns);
	vec_each (t, &p->threads)
		printf("thread\t%d\t%s\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\n", t->tid,
		       intern_text(&c->images.names, t->name), t->wall_ns, t->net_ns, t->own_ns,
		       t->blocked_ns, t->preempted_ns, t->tail_ns, t->wall_residual_ns);
	for (uint32_t i = 0; i < p->paths.count; i++)
		print_path(c, p, i);
}

int main(int argc, char **argv)
{
	struct kernel_calls_options o = {0};
	struct kernel_calls_result result;
	const char *functions[16];
	struct error err = {0};
	struct call_paths *c;
	int option;

	o.functions = functions;
	while ((option = getopt(argc, argv, "+b:f:")) != -1) {
		if (option == 'b')
			o.buffer_bytes = (size_t)atol(optarg) << 10;
		else if (option == 'f' && o.count < 16)
			functions[o.count++] = optarg;
		else
			return 2;
	}
	if (!argv[optind])
		return 2;
	c = call_paths_new();
	if (kernel_calls_run(c, &o, argv + optind, &result, &err)) {
		fprintf(stderr, "kernel_paths: %s\n", err.text);
		call_paths_free(c);
		return 1;
	}
	call_paths_close(c);
	printf("run\t%llu\t%llu\t%d\t%d\n", (unsigned long long)result.events,
	       (unsigned long long)result.lost, result.cost_known, result.run.exit_status);
	vec_each (p, &c->processes)
		print_process(c, p);
	call_paths_free(c);
	return 0;
}
