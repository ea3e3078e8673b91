/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/function_graph.h"

#include "base/buf.h"
#include "base/vec.h"
#include "source/tracefs_settings.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <tracefs/tracefs.h>
#include <traceevent/event-parse.h>
#include <traceevent/kbuffer.h>
#include <unistd.h>

#define PAGE_ROOM (64u << 10) /* a page of the buffer is 4096 bytes unless someone chose more */

/* include/linux/trace_events.h: the flags in each record's head */
#define FLAG_HARDIRQ 0x08
#define FLAG_NMI 0x40

/* include/linux/sched.h, as the switch event tells states: below are those that sleep */
#define STATE_ASLEEP 0xff
#define STATE_DEAD 0x30 /* EXIT_DEAD, EXIT_ZOMBIE */

#define CLONE_THREAD_FLAG 0x10000u

/* Where a field is in a record. */
struct field {
	size_t offset, size;
	bool is_signed;
};

enum field_name { FUNCTION, DEPTH, OTHER_PID, STATE, COMM, CLONE_FLAGS, FILENAME, FIELD_NAMES };

static const struct event_kind {
	enum graph_event_kind kind;
	const char *system, *name;
	const char *fields[FIELD_NAMES]; /* NULL: not needed of this one */
} kinds[] = {
        {GRAPH_ENTRY, "ftrace", "funcgraph_entry", {[FUNCTION] = "func", [DEPTH] = "depth"}},
        {GRAPH_EXIT, "ftrace", "funcgraph_exit", {[FUNCTION] = "func", [DEPTH] = "depth"}},
        {GRAPH_SWITCH,
         "sched",
         "sched_switch",
         {[OTHER_PID] = "next_pid", [STATE] = "prev_state", [COMM] = "prev_comm"}},
        {GRAPH_NEW, "task", "task_newtask", {[OTHER_PID] = "pid", [CLONE_FLAGS] = "clone_flags"}},
        {GRAPH_EXEC, "sched", "sched_process_exec", {[FILENAME] = "filename"}},
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

struct layout {
	uint64_t id;
	struct field fields[FIELD_NAMES];
};

struct cpu_buffer {
	uint32_t cpu;
	int fd;
	uint64_t lost_before;
};

struct function_graph {
	const char *top; /* tracefs's directory */
	struct tracefs_settings settings;
	struct layout layouts[KINDS];
	struct field type, flags, pid;
	struct kbuffer *pages;
	VEC(struct cpu_buffer) cpus;
	void *page;
	bool filtered;
};

static struct field field_of(const struct tep_format_field *f)
{
	return (struct field){.offset = (size_t)f->offset,
	                      .size = (size_t)f->size,
	                      .is_signed = f->flags & TEP_FIELD_IS_SIGNED};
}

static int read_layouts(struct function_graph *g, struct tep_handle *tep, struct error *err)
{
	for (size_t i = 0; i < KINDS; i++) {
		const struct event_kind *k = &kinds[i];
		struct tep_event *event = tep_find_event_by_name(tep, k->system, k->name);

		if (!event)
			return error_set(
			        err, ENOTSUP,
			        "%s/events/%s/%s: the kernel has no such event, and kernel "
			        "call paths need it",
			        g->top, k->system, k->name);
		g->layouts[i].id = (uint64_t)event->id;
		g->type = field_of(tep_find_common_field(event, "common_type"));
		g->flags = field_of(tep_find_common_field(event, "common_flags"));
		g->pid = field_of(tep_find_common_field(event, "common_pid"));
		for (size_t n = 0; n < FIELD_NAMES; n++) {
			struct tep_format_field *f =
			        k->fields[n] ? tep_find_field(event, k->fields[n]) : NULL;

			if (k->fields[n] && !f)
				return error_set(err, ENOTSUP,
				                 "%s/events/%s/%s/format: no field %s", g->top,
				                 k->system, k->name, k->fields[n]);
			if (f)
				g->layouts[i].fields[n] = field_of(f);
		}
	}
	return 0;
}

static int read_formats(struct function_graph *g, struct error *err)
{
	static const char *const systems[] = {"ftrace", "sched", "task", NULL};
	struct tep_handle *tep = tracefs_local_events_system(g->top, systems);
	int status;

	if (!tep)
		return error_set(err, EIO, "%s/events: the formats cannot be read", g->top);
	status = read_layouts(g, tep, err);
	tep_free(tep);
	return status;
}

/* A field's number; 0 where the record ends before it. */
static int64_t number(const struct field *f, const uint8_t *record, size_t size)
{
	uint64_t value = 0;
	size_t bytes = f->size < sizeof(value) ? f->size : sizeof(value);

	if (!bytes || f->offset + bytes > size)
		return 0;
	memcpy(&value, record + f->offset, bytes); /* little endian, as all that we run on */
	if (f->is_signed && bytes < sizeof(value) && value >> (bytes * 8 - 1))
		value |= ~(uint64_t)0 << (bytes * 8);
	return (int64_t)value;
}

/* The last part of a path, or a name, cut to what there is room for. */
static void take_name(char into[16], const uint8_t *text, size_t size)
{
	size_t begin = 0, end = 0;

	for (; end < size && text[end]; end++)
		if (text[end] == '/')
			begin = end + 1;
	if (end - begin > 15)
		end = begin + 15;
	memcpy(into, text + begin, end - begin);
	into[end - begin] = '\0';
}

static void take_filename(char into[16], const struct field *f, const uint8_t *record, size_t size)
{
	/* __data_loc: where in the record, and how long */
	uint64_t where = (uint64_t)number(f, record, size) & 0xffffffff;
	size_t offset = where & 0xffff, length = where >> 16;

	if (offset > size)
		offset = size;
	take_name(into, record + offset, length < size - offset ? length : size - offset);
}

static bool decode(const struct function_graph *g, const uint8_t *record, size_t size,
                   struct graph_event *e)
{
	uint64_t type = (uint64_t)number(&g->type, record, size);
	const struct field *f;
	size_t i;

	for (i = 0; i < KINDS && g->layouts[i].id != type; i++)
		;
	if (i == KINDS)
		return false;
	f = g->layouts[i].fields;
	e->kind = kinds[i].kind;
	e->task = (int32_t)number(&g->pid, record, size);
	switch (e->kind) {
	case GRAPH_ENTRY:
	case GRAPH_EXIT:
		e->interrupt = number(&g->flags, record, size) & (FLAG_HARDIRQ | FLAG_NMI);
		e->function = (uint64_t)number(&f[FUNCTION], record, size);
		e->depth = (int32_t)number(&f[DEPTH], record, size);
		break;
	case GRAPH_SWITCH:
		e->other = (int32_t)number(&f[OTHER_PID], record, size);
		e->preempted = !(number(&f[STATE], record, size) & STATE_ASLEEP);
		e->dead = number(&f[STATE], record, size) & STATE_DEAD;
		if (f[COMM].offset + f[COMM].size <= size)
			take_name(e->name, record + f[COMM].offset, f[COMM].size);
		break;
	case GRAPH_NEW:
		e->other = (int32_t)number(&f[OTHER_PID], record, size);
		e->thread = number(&f[CLONE_FLAGS], record, size) & CLONE_THREAD_FLAG;
		break;
	case GRAPH_EXEC:
		take_filename(e->name, &f[FILENAME], record, size);
		break;
	case GRAPH_LOST:
		break;
	}
	return true;
}

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
		return error_set(err, EIO, "%s/per_cpu/cpu%u/trace_pipe_raw: no page of a buffer",
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
		if (decode(g, record, (size_t)kbuffer_event_size(g->pages), &e))
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

/*
 * One clock for all CPUs. CLOCK_MONOTONIC_RAW is that, but where the machine has
 * no good counter each reading of it goes to a device and costs microseconds.
 */
static const char *trace_clock(void)
{
	char name[32] = "";
	FILE *f = fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "re");

	if (f) {
		if (!fgets(name, sizeof(name), f))
			name[0] = '\0';
		fclose(f);
	}
	return !strncmp(name, "tsc", 3) || !strncmp(name, "kvm-clock", 9) ||
	                       !strncmp(name, "arch_sys_counter", 16)
	               ? "mono_raw"
	               : "perf";
}

/* All but the tracer itself, which comes last: until then nobody is slowed down. */
static int change_settings(struct function_graph *g, size_t buffer_bytes, struct error *err)
{
	char kb[32], pid[32], depth[640];
	const struct {
		const char *file, *value;
		bool optional;
	} changes[] = {
	        {"tracing_on", "0", false},
	        {"trace_clock", trace_clock(), false},
	        {"buffer_size_kb", kb, false},
	        {"options/overwrite", "1", false},
	        {"options/function-fork", "1", false},
	        {"options/event-fork", "1", false},
	        {"options/funcgraph-irqs", "1", true},
	        {depth, "0", true},
	        {"set_ftrace_pid", pid, false},
	        {"set_event_pid", pid, false},
	        {"events/sched/sched_switch/enable", "1", false},
	        {"events/sched/sched_process_exec/enable", "1", false},
	        {"events/task/task_newtask/enable", "1", false},
	        {"current_tracer", "function_graph", false},
	};

	snprintf(kb, sizeof(kb), "%zu", buffer_bytes >> 10);
	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	snprintf(depth, sizeof(depth), "%s/max_graph_depth", g->top);
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		int status = tracefs_settings_change(&g->settings, changes[i].file,
		                                     changes[i].value, changes[i].optional, err);

		if (status)
			return status;
	}
	return 0;
}

static int set_up_instance(struct function_graph *g, size_t buffer_bytes, struct error *err)
{
	char name[32];
	struct tracefs_instance *instance;
	char *directory;
	int status;

	snprintf(name, sizeof(name), "assay-%d", (int)getpid());
	instance = tracefs_instance_create(name);
	if (!instance)
		return error_set(err, errno, "%s/instances/%s: %s", g->top, name, strerror(errno));
	directory = tracefs_instance_get_dir(instance);
	status = tracefs_settings_begin(&g->settings, directory ? directory : "", true, err);
	tracefs_put_tracing_file(directory);
	tracefs_instance_free(instance);
	return status ? status : change_settings(g, buffer_bytes, err);
}

static int set_up_top(struct function_graph *g, size_t buffer_bytes, struct error *err)
{
	char text[256];
	int status = tracefs_settings_begin(&g->settings, g->top, false, err);

	if (status)
		return status;
	if (!tracefs_settings_read(&g->settings, "current_tracer", text, sizeof(text)) ||
	    strcmp(text, "nop") != 0) {
		/* Nothing was changed: nothing is put back. */
		tracefs_settings_abandon(&g->settings);
		return error_set(err, EBUSY,
		                 "%s/current_tracer: \"%s\" is in use, and this kernel has one for "
		                 "all: end that first (echo nop >%s/current_tracer)",
		                 g->top, text, g->top);
	}
	g->filtered =
	        tracefs_settings_read(&g->settings, "set_ftrace_filter", text, sizeof(text)) &&
	        text[0] != '#';
	return change_settings(g, buffer_bytes, err);
}

static int find_tracefs(struct function_graph *g, struct error *err)
{
	struct tracefs_settings look = {0};
	char text[512];

	g->top = tracefs_tracing_dir();
	if (!g->top)
		return error_set(
		        err, ENOENT,
		        "/sys/kernel/tracing: tracefs is not there: kernel call paths need "
		        "root, tracefs (mount -t tracefs nodev /sys/kernel/tracing) and a "
		        "kernel with CONFIG_FUNCTION_GRAPH_TRACER");
	snprintf(look.directory, sizeof(look.directory), "%s", g->top);
	errno = 0;
	if (!tracefs_settings_read(&look, "available_tracers", text, sizeof(text)))
		return error_set(
		        err, errno ? errno : ENOENT,
		        "%s/available_tracers: %s: kernel call paths need root and tracefs "
		        "(mount -t tracefs nodev /sys/kernel/tracing)",
		        g->top, strerror(errno ? errno : ENOENT));
	if (!strstr(text, "function_graph"))
		return error_set(
		        err, ENOTSUP,
		        "%s/available_tracers: no function_graph among \"%s\": kernel call "
		        "paths need a kernel with CONFIG_FUNCTION_GRAPH_TRACER",
		        g->top, text);
	tracefs_settings_sweep(g->top);
	return 0;
}

int function_graph_open(struct function_graph **out, size_t buffer_bytes, struct error *err)
{
	struct function_graph *g = xcalloc(1, sizeof(*g));
	int status = find_tracefs(g, err);

	g->settings.alive = -1;
	if (!status)
		status = read_formats(g, err);
	if (!status) {
		status = set_up_instance(g, buffer_bytes, NULL);
		if (status) {
			tracefs_settings_end(&g->settings);
			status = set_up_top(g, buffer_bytes, err);
		}
	}
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

	/* What was lost until now was another's. */
	vec_each (b, &g->cpus)
		b->lost_before = lost_of(g, b->cpu);
	snprintf(text, sizeof(text), "%d", (int)pid);
	status = tracefs_settings_write(&g->settings, "set_ftrace_pid", text, false, err);
	return status ? status
	              : tracefs_settings_write(&g->settings, "set_event_pid", text, false, err);
}

int function_graph_limit(struct function_graph *g, const char *const *functions, size_t count,
                         struct error *err)
{
	char file[640];

	/* One list for all instances. */
	snprintf(file, sizeof(file), "%s/set_graph_function", g->top);
	for (size_t i = 0; i < count; i++) {
		/* Without the blank the kernel looks at it when it is closed, and tells nobody. */
		char *text = xasprintf("%s ", functions[i]);
		int status = i ? tracefs_settings_write(&g->settings, file, text, true, err)
		               : tracefs_settings_change(&g->settings, file, text, false, err);

		free(text);
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

int function_graph_switch(struct function_graph *g, bool on, struct error *err)
{
	return tracefs_settings_write(&g->settings, "tracing_on", on ? "1" : "0", false, err);
}
