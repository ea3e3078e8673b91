/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * function_graph: sets up tracefs for the trace, in an instance or at the top level.
 */
#include "source/tracefs/function_graph_internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <tracefs/tracefs.h>
#include <unistd.h>

int graph_setup_find(const char **top, struct error *err)
{
	struct tracefs_settings look = {0};
	char text[512];

	*top = tracefs_tracing_dir();
	if (!*top)
		return error_set(
		        err, ENOENT,
		        "/sys/kernel/tracing: tracefs is not mounted: kernel call paths need "
		        "root, tracefs (mount -t tracefs nodev /sys/kernel/tracing) and a "
		        "kernel with CONFIG_FUNCTION_GRAPH_TRACER");
	snprintf(look.directory, sizeof(look.directory), "%s", *top);
	errno = 0;
	if (!tracefs_settings_read(&look, "available_tracers", text, sizeof(text)))
		return error_set(
		        err, errno ? errno : ENOENT,
		        "%s/available_tracers: %s: kernel call paths need root and tracefs "
		        "(mount -t tracefs nodev /sys/kernel/tracing)",
		        *top, strerror(errno ? errno : ENOENT));
	if (!strstr(text, "function_graph"))
		return error_set(
		        err, ENOTSUP,
		        "%s/available_tracers: function_graph is not in \"%s\": kernel call "
		        "paths need a kernel with CONFIG_FUNCTION_GRAPH_TRACER",
		        *top, text);
	tracefs_settings_sweep(*top);
	return 0;
}

/*
 * Selects one clock for all CPUs. CLOCK_MONOTONIC_RAW qualifies, but on a machine without a good
 * counter each reading accesses a device and takes microseconds.
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

/* Makes all settings except the tracer, which is set last because it slows down the machine. */
static int change_settings(struct tracefs_settings *s, const char *top, size_t buffer_bytes,
                           struct error *err)
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
	snprintf(depth, sizeof(depth), "%s/max_graph_depth", top);
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		int status = tracefs_settings_change(s, changes[i].file, changes[i].value,
		                                     changes[i].optional, err);

		if (status)
			return status;
	}
	return 0;
}

static int set_up_instance(struct tracefs_settings *s, const char *top, size_t buffer_bytes,
                           struct error *err)
{
	char name[32];
	struct tracefs_instance *instance;
	char *directory;
	int status;

	snprintf(name, sizeof(name), "assay-%d", (int)getpid());
	instance = tracefs_instance_create(name);
	if (!instance)
		return error_set(err, errno, "%s/instances/%s: %s", top, name, strerror(errno));
	directory = tracefs_instance_get_dir(instance);
	status = tracefs_settings_begin(s, directory ? directory : "", true, err);
	tracefs_put_tracing_file(directory);
	tracefs_instance_free(instance);
	return status ? status : change_settings(s, top, buffer_bytes, err);
}

static int set_up_top(struct tracefs_settings *s, const char *top, size_t buffer_bytes,
                      bool *filtered, struct error *err)
{
	char text[256];
	int status = tracefs_settings_begin(s, top, false, err);

	if (status)
		return status;
	if (!tracefs_settings_read(s, "current_tracer", text, sizeof(text)) ||
	    strcmp(text, "nop") != 0) {
		/* No setting was changed, so none is restored. */
		tracefs_settings_abandon(s);
		return error_set(err, EBUSY,
		                 "%s/current_tracer: \"%s\" is in use, and this kernel has one for "
		                 "all users: end that tracer first (echo nop >%s/current_tracer)",
		                 top, text, top);
	}
	*filtered =
	        tracefs_settings_read(s, "set_ftrace_filter", text, sizeof(text)) && text[0] != '#';
	return change_settings(s, top, buffer_bytes, err);
}

int graph_setup(struct tracefs_settings *s, const char *top, size_t buffer_bytes, bool *filtered,
                struct error *err)
{
	if (!set_up_instance(s, top, buffer_bytes, NULL))
		return 0;
	tracefs_settings_end(s);
	return set_up_top(s, top, buffer_bytes, filtered, err);
}
