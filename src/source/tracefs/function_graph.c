/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/tracefs/function_graph.h"

#include "base/memory/buf.h"
#include "base/memory/vec.h"
#include "source/tracefs/function_graph_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <traceevent/kbuffer.h>
#include <unistd.h>

#define PAGE_ROOM (64u << 10) /* a page of the buffer has 4096 bytes by default */

struct cpu_buffer {
	uint32_t cpu;
	int fd;
	uint64_t lost_before;
};

struct function_graph {
	const char *top; /* the tracefs directory */
	struct tracefs_settings settings;
	struct graph_format format;
	struct kbuffer *pages;
	VEC(struct cpu_buffer) cpus;
	void *page;
	bool filtered;
};

int function_graph_read(struct function_graph *g, size_t index, graph_event_fn *deliver, void *ctx,
                        struct error *err)
{
	struct cpu_buffer *b = &g->cpus.items[index];
	ssize_t got = read(b->fd, g->page, PAGE_ROOM);
	unsigned long long time = 0;
	int count = 0, missed;
	uint8_t *record;

	if (got < 0 && errno != EAGAIN && errno != EINTR)
		return error_set(err, errno, "%s/per_cpu/cpu%u/trace_pipe_raw: %s",
		                 g->settings.directory, b->cpu, strerror(errno));
	if (got < 16)
		return 0;
	if (kbuffer_load_subbuffer(g->pages, g->page))
		return error_set(err, EIO,
		                 "%s/per_cpu/cpu%u/trace_pipe_raw: not a page of a buffer",
		                 g->settings.directory, b->cpu);
	missed = kbuffer_missed_events(g->pages);
	for (record = kbuffer_read_event(g->pages, &time); record;
	     record = kbuffer_next_event(g->pages, &time)) {
		struct graph_event e = {.cpu = b->cpu, .time_ns = time};

		if (missed) {
			e.kind = GRAPH_LOST;
			e.lost = missed > 0 ? (uint64_t)missed : 0;
			deliver(ctx, &e);
			e = (struct graph_event){.cpu = b->cpu, .time_ns = time};
			missed = 0;
		}
		if (graph_format_decode(&g->format, record, (size_t)kbuffer_event_size(g->pages),
		                        &e))
			deliver(ctx, &e);
		count++;
	}
	return count ? count : 1;
}

static uint64_t lost_of(const struct function_graph *g, uint32_t cpu)
{
	static const char *const names[] = {"\noverrun: ", "\ndropped events: "};
	char file[64], text[1024];
	uint64_t lost = 0;

	snprintf(file, sizeof(file), "per_cpu/cpu%u/stats", cpu);
	if (!tracefs_settings_read(&g->settings, file, text, sizeof(text)))
		return 0;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *at = strstr(text, names[i]);

		lost += at ? strtoull(at + strlen(names[i]), NULL, 10) : 0;
	}
	return lost;
}

uint64_t function_graph_lost(const struct function_graph *g)
{
	uint64_t lost = 0;

	vec_each (b, &g->cpus) {
		uint64_t now = lost_of(g, b->cpu);

		lost += now > b->lost_before ? now - b->lost_before : 0;
	}
	return lost;
}

size_t function_graph_cpus(const struct function_graph *g)
{
	return g->cpus.count;
}

bool function_graph_filtered(const struct function_graph *g)
{
	return g->filtered;
}

static int open_cpus(struct function_graph *g, struct error *err)
{
	char path[640];
	int fd;

	for (long cpu = 0, all = sysconf(_SC_NPROCESSORS_CONF); cpu < all; cpu++) {
		snprintf(path, sizeof(path), "%s/per_cpu/cpu%ld/trace_pipe_raw",
		         g->settings.directory, cpu);
		fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		if (fd < 0 && errno == ENOENT)
			continue;
		if (fd < 0)
			return error_set(err, errno, "%s: %s", path, strerror(errno));
		vec_push(&g->cpus, (struct cpu_buffer){.cpu = (uint32_t)cpu,
		                                       .fd = fd,
		                                       .lost_before = lost_of(g, (uint32_t)cpu)});
	}
	return 0;
}

int function_graph_open(struct function_graph **out, size_t buffer_bytes, struct error *err)
{
	struct function_graph *g = xcalloc(1, sizeof(*g));
	int status = graph_setup_find(&g->top, err);

	g->settings.alive = -1;
	if (!status)
		status = graph_format_read(&g->format, g->top, err);
	if (!status)
		status = graph_setup(&g->settings, g->top, buffer_bytes, &g->filtered, err);
	if (!status)
		status = open_cpus(g, err);
	g->page = xcalloc(1, PAGE_ROOM);
	g->pages = kbuffer_alloc(KBUFFER_LSIZE_SAME_AS_HOST, KBUFFER_ENDIAN_SAME_AS_HOST);
	if (!status && !g->pages)
		status = error_set(err, ENOMEM, "kbuffer: %s", strerror(ENOMEM));
	if (status) {
		function_graph_close(g);
		return status;
	}
	*out = g;
	return 0;
}

void function_graph_close(struct function_graph *g)
{
	if (!g)
		return;
	vec_each (b, &g->cpus)
		close(b->fd);
	vec_done(&g->cpus);
	tracefs_settings_end(&g->settings);
	if (g->pages)
		kbuffer_free(g->pages);
	free(g->page);
	free(g);
}

int function_graph_follow(struct function_graph *g, int32_t pid, struct error *err)
{
	char text[32];
	int status;

	/* Entries lost before this moment belong to another user of the buffer. */
	vec_each (b, &g->cpus)
		b->lost_before = lost_of(g, b->cpu);
	snprintf(text, sizeof(text), "%d", (int)pid);
	status = tracefs_settings_write(&g->settings, "set_ftrace_pid", text, false, err);
	return status ? status
	              : tracefs_settings_write(&g->settings, "set_event_pid", text, false, err);
}

/* Writes to a list of functions, which all instances share; `first`: in place of the old list. */
static int list_function(struct function_graph *g, const char *list, const char *function,
                         bool first, struct error *err)
{
	/* Without the blank the kernel parses the name at close() and reports no error. */
	char file[640], *text = xasprintf("%s ", function);
	int status;

	snprintf(file, sizeof(file), "%s/%s", g->top, list);
	status = first ? tracefs_settings_change(&g->settings, file, text, false, err)
	               : tracefs_settings_write(&g->settings, file, text, true, err);
	free(text);
	return status;
}

int function_graph_limit(struct function_graph *g, const char *const *functions, size_t count,
                         struct error *err)
{
	for (size_t i = 0; i < count; i++) {
		int status = list_function(g, "set_graph_function", functions[i], !i, err);

		if (status == -EINVAL)
			return error_set(err, EINVAL,
			                 "%s: no kernel function of this name can be traced; "
			                 "%s/available_filter_functions lists them",
			                 functions[i], g->top);
		if (status)
			return status;
	}
	return 0;
}

int function_graph_exclude(struct function_graph *g, const char *const *functions, size_t count,
                           struct error *err)
{
	for (size_t i = 0; i < count; i++) {
		int status = list_function(g, "set_graph_notrace", functions[i], !i, err);

		if (status && status != -EINVAL)
			return status;
	}
	return 0;
}

int function_graph_switch(struct function_graph *g, bool on, struct error *err)
{
	return tracefs_settings_write(&g->settings, "tracing_on", on ? "1" : "0", false, err);
}
