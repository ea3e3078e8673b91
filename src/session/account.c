/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/account.h"

#include "base/memory/buf.h"
#include "base/clock.h"
#include "base/this_boot.h"
#include "event/attr.h"
#include "format/perf/tracepoint_format.h"
#include "image/kernel_anchors.h"
#include "source/proc/block_devices.h"
#include "source/tracefs/tracepoint_files.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

void account_mark_take(struct account_mark *mark, const struct foreign *foreign)
{
	mark->time_ns = clock_ns(CLOCK_MONOTONIC);
	mark->wall_ns = clock_ns(CLOCK_REALTIME);
	mark->cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) + foreign_cpu_ns(foreign);
	cpu_stats_read(&mark->stats);
}

void account_mark_done(struct account_mark *mark)
{
	cpu_stats_done(&mark->stats);
}

static char *cpu_description(void)
{
	FILE *file = fopen("/proc/cpuinfo", "re");
	char line[512], *colon;
	char *found = NULL;

	while (file && !found && fgets(line, sizeof(line), file)) {
		colon = strchr(line, ':');
		if (colon && !strncmp(line, "model name", 10)) {
			colon[strcspn(colon, "\n")] = '\0';
			found = xstrdup(colon + 2);
		}
	}
	if (file)
		fclose(file);
	return found;
}

/* The recorder's own command line; spaces separate the arguments. */
static char *command_line(void)
{
	FILE *file = fopen("/proc/self/cmdline", "re");
	struct buf text = {0};
	int c;

	while (file && (c = fgetc(file)) != EOF)
		buf_putc(&text, c ? (char)c : ' ');
	if (file)
		fclose(file);
	if (text.size)
		text.data[--text.size] = '\0';
	return text.data ? text.data : xstrdup("");
}

static void describe_attr(struct recording *r, const struct perf_source_event *event)
{
	struct perf_event_attr attr = plan_file_attr(event);
	struct recording_attr *a = vec_add(&r->attrs);

	attr_describe(a, &attr, event->role);
	a->name = xstrdup(event->name);
}

/* Without the descriptions the samples have no fields, and perf does not read the file. */
static void describe_tracepoint(struct recording *r, const struct perf_source_event *event)
{
	struct tracepoint t = {0};

	if (event->attr.type != PERF_TYPE_TRACEPOINT || tracepoint_find(r, event->attr.config))
		return;
	t.format = tracepoint_format(event->name);
	t.system = xstrndup(event->name, strcspn(event->name, ":"));
	if (t.format && tracepoint_format_parse(&t))
		vec_push(&r->tracepoints, t);
	else
		tracepoint_done(&t);
	if (!r->tracing_page)
		r->tracing_page = tracefs_text("events/header_page");
}

/* The machine is recorded, but the user asked for these processes. */
static void describe_targets(struct recording *r, const struct targets *targets)
{
	proc_ids pids = {0};

	targets_processes(targets, &pids);
	vec_each (pid, &pids)
		vec_push(&r->account.targets, *pid);
	vec_done(&pids);
}

/* A report may be made with a map of kernel symbols: it is compared with these. */
static void describe_kernel(struct recording *r)
{
	struct recording_build_id *kernel = vec_add(&r->build_ids);
	struct kernel_anchors anchors;
	struct cache_dir *cache = NULL;

	kernel->filename = xstrdup("[kernel.kallsyms]");
	kernel->pid = -1;
	kernel->mode = CPU_MODE_KERNEL;
	kernel->id = proc_kernel_build_id();
	cache_dir_open(&cache, NULL); /* without a cache it only takes longer */
	kernel_anchors_running(&anchors, cache, NULL);
	cache_dir_close(cache);
	vec_each (anchor, &anchors.items)
		vec_push(&r->account.symbols,
		         (struct account_symbol){anchor->address, anchor->name, anchor->module});
	/* The texts belong to the recording now. */
	anchors.items.count = 0;
	kernel_anchors_done(&anchors);
}

void account_describe(struct recording *r, const struct plan *plan,
                      const struct session_options *options, const struct targets *targets)
{
	struct utsname host;
	char boot[BOOT_ID_SIZE];

	uname(&host);
	r->path = xstrdup(options->output);
	r->hostname = xstrdup(host.nodename);
	r->os_release = xstrdup(host.release);
	r->arch = xstrdup(host.machine);
	this_boot_id(boot);
	r->account.boot_id = *boot ? xstrdup(boot) : NULL;
	r->cpu_description = cpu_description();
	r->version = xstrdup("assay " ASSAY_VERSION);
	r->cmdline = command_line();
	r->cpus_online = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
	r->cpus_available = (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
	r->clockid = CLOCK_MONOTONIC;
	vec_each (event, &plan->events)
		describe_attr(r, event);
	vec_each (event, &plan->events)
		describe_tracepoint(r, event);
	if (plan->waits && !options->machine_wide)
		describe_targets(r, targets);
	if (plan->waits)
		block_devices_list(&r->account);
	if (plan->kernel)
		describe_kernel(r);
}

static void close_cpu(struct recording *r, const struct perf_source_cpu *cpu,
                      const struct account_mark *start, const struct account_mark *end)
{
	const struct cpu_stat *a = cpu_stats_find(&start->stats, cpu->cpu);
	const struct cpu_stat *b = cpu_stats_find(&end->stats, cpu->cpu);
	struct account_cpu *account = vec_add(&r->account.cpus);

	account->cpu = cpu->cpu;
	account->start_ns = cpu->start_ns;
	account->end_ns = cpu->end_ns ? cpu->end_ns : end->time_ns;
	account->lost_records = cpu->lost;
	account->ring_bytes = cpu->ring.size;
	account->ring_used_max = cpu->ring.used_max;
	account->ring_used_sum = cpu->ring.used_sum;
	account->ring_reads = cpu->ring.reads;
	if (!a || !b)
		return;
	account->stat_user_ns = b->user_ns - a->user_ns;
	account->stat_system_ns = b->system_ns - a->system_ns;
	account->stat_irq_ns = b->irq_ns - a->irq_ns;
	account->stat_softirq_ns = b->softirq_ns - a->softirq_ns;
	account->stat_idle_ns = b->idle_ns - a->idle_ns;
	account->stat_iowait_ns = b->iowait_ns - a->iowait_ns;
	account->stat_steal_ns = b->steal_ns - a->steal_ns;
}

void account_close(struct recording *r, const struct plan *plan, const struct perf_source *source,
                   const struct account_mark *start, const struct account_mark *end)
{
	struct account *account = &r->account;

	account->present = true;
	account->machine_wide = plan->machine_wide;
	account->start_ns = start->time_ns;
	account->end_ns = end->time_ns;
	account->observer_pid = getpid();
	account->observer_start_cpu_ns = start->cpu_ns;
	account->observer_cpu_ns = end->cpu_ns - start->cpu_ns;
	r->first_sample_ns = start->time_ns;
	r->last_sample_ns = end->time_ns;
	r->clock_start_ns = start->time_ns;
	r->clock_wall_ns = start->wall_ns;
	for (size_t i = 0; i < perf_source_cpu_count(source); i++) {
		const struct perf_source_cpu *cpu = perf_source_cpu_at(source, i);

		close_cpu(r, cpu, start, end);
		r->lost_records += cpu->lost;
		if (!plan->machine_wide)
			account->counted_oncpu_ns += cpu->running_ns;
	}
	vec_each (note, &plan->notes)
		vec_push(&account->notes, xstrdup(*note));
}
