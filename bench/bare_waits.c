/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bare_waits: the tracepoints that `assay record --waits` opens for switches and wake-ups, without
 * a reader.
 *
 * The rings are mapped read-only, so the kernel overwrites them continuously: a program beside it
 * is slowed by the kernel's cost of the samples, which no recorder can avoid. Runs until SIGTERM or
 * SIGINT. Usage: bare_waits STACK_BYTES REGISTERS (0 and 0: chains of the kernel, along frame
 * pointers). Prints "ready" when it samples.
 */
#define _GNU_SOURCE
#include <linux/perf_event.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define RING_BYTES ((size_t)1 << 20)

static uint32_t stack_bytes;
static uint64_t registers;

static uint64_t id_of(const char *name)
{
	char path[128];
	uint64_t id = 0;
	FILE *file;

	snprintf(path, sizeof path, "/sys/kernel/tracing/events/sched/%s/id", name);
	file = fopen(path, "r");
	if (!file || fscanf(file, "%lu", &id) != 1) {
		perror(path);
		exit(1);
	}
	fclose(file);
	return id;
}

/* Returns the descriptor; `ring`: that of the event whose ring is shared, -1: an own ring. */
static int open_on(int cpu, const char *name, const char *filter, int ring)
{
	struct perf_event_attr attr = {
	        .type = PERF_TYPE_TRACEPOINT,
	        .size = sizeof attr,
	        .config = id_of(name),
	        .sample_period = 1,
	        .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
	                       PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
	                       PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW,
	        .disabled = 1,
	        .use_clockid = 1,
	        .clockid = CLOCK_MONOTONIC,
	};
	int fd;

	if (stack_bytes) {
		attr.sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
		attr.sample_regs_user = registers;
		attr.sample_stack_user = stack_bytes;
		attr.exclude_callchain_user = 1;
	}
	fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0 || (filter && ioctl(fd, PERF_EVENT_IOC_SET_FILTER, filter)))
		return -1;
	if (ring < 0 && mmap(NULL, RING_BYTES + (size_t)sysconf(_SC_PAGESIZE), PROT_READ,
	                     MAP_SHARED, fd, 0) == MAP_FAILED)
		return -1;
	if (ring >= 0 && ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring))
		return -1;
	return ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) ? -1 : fd;
}

int main(int argc, char **argv)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	sigset_t end;
	int signal;

	stack_bytes = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 0) : 0;
	registers = argc > 2 ? strtoull(argv[2], NULL, 0) : 0;
	sigemptyset(&end);
	sigaddset(&end, SIGTERM);
	sigaddset(&end, SIGINT);
	sigprocmask(SIG_BLOCK, &end, NULL);
	for (int cpu = 0; cpu < cpus; cpu++) {
		int ring = open_on(cpu, "sched_switch", "prev_pid != 0", -1);

		if (ring < 0 || open_on(cpu, "sched_waking", NULL, ring) < 0 ||
		    open_on(cpu, "sched_wakeup_new", NULL, ring) < 0) {
			perror("perf_event_open");
			return 1;
		}
	}
	printf("ready\n");
	fflush(stdout);
	sigwait(&end, &signal);
	return 0;
}
