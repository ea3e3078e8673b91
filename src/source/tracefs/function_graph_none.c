/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * function_graph for builds without libtracefs: each call returns an error.
 */
#include "source/tracefs/function_graph.h"

#include <errno.h>

int function_graph_open(struct function_graph **g, size_t buffer_bytes, struct error *err)
{
	return error_set(err, ENOTSUP,
	                 "kernel call paths: this assay was built without libtracefs; install "
	                 "libtraceevent-dev and libtracefs-dev and build it again");
}

void function_graph_close(struct function_graph *g)
{
}

int function_graph_follow(struct function_graph *g, int32_t pid, struct error *err)
{
	return error_set(err, ENOTSUP, "kernel call paths: not built in");
}

int function_graph_limit(struct function_graph *g, const char *const *functions, size_t count,
                         struct error *err)
{
	return error_set(err, ENOTSUP, "kernel call paths: not built in");
}

int function_graph_exclude(struct function_graph *g, const char *const *functions, size_t count,
                           struct error *err)
{
	return error_set(err, ENOTSUP, "kernel call paths: not built in");
}

int function_graph_switch(struct function_graph *g, bool on, struct error *err)
{
	return error_set(err, ENOTSUP, "kernel call paths: not built in");
}

size_t function_graph_cpus(const struct function_graph *g)
{
	return 0;
}

int function_graph_read(struct function_graph *g, size_t cpu, graph_event_fn *deliver, void *ctx,
                        struct error *err)
{
	return error_set(err, ENOTSUP, "kernel call paths: not built in");
}

uint64_t function_graph_lost(const struct function_graph *g)
{
	return 0;
}

bool function_graph_filtered(const struct function_graph *g)
{
	return false;
}
