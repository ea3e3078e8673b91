/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bare_waits: the events that `assay record --waits` opens, without a reader: the tracepoints of
 * switches and wake-ups, the clock, and the switch records.
 *
 * The rings are mapped read-only, so the kernel overwrites them continuously: a program beside it
 * is slowed by the kernel's cost of the samples, which no recorder can avoid. Runs until SIGTERM or
 * SIGINT. Usage: bare_waits SWITCH_BYTES SWITCH_REGISTERS WAKE_BYTES WAKE_REGISTERS: the size of
 * the stack copy in samples of switches and of wake-ups, and perf's mask of the copied registers.
 * Prints "ready" when it samples.
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

struct copied {
	uint32_t bytes;
	uint64_t registers;
};

static struct copied of_switch, of_wake;

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

static struct perf_event_attr common(void)
{
	return (struct perf_event_attr){
	        .size = sizeof(struct perf_event_attr),
	        .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
	                       PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
	                       PERF_SAMPLE_CALLCHAIN,
	        .sample_id_all = 1,
	        .disabled = 1,
	        .use_clockid = 1,
	        .clockid = CLOCK_MONOTONIC,
	};
}

static void copy_stack(struct perf_event_attr *attr, struct copied copied)
{
	attr->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	attr->sample_regs_user = copied.registers;
	attr->sample_stack_user = copied.bytes;
	attr->exclude_callchain_user = 1;
}

/* Returns the descriptor; `ring`: that of the event whose ring is shared, -1: an own ring. */
static int open_event(int cpu, struct perf_event_attr *attr, const char *filter, int ring)
{
	int fd = (int)syscall(SYS_perf_event_open, attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0 || (filter && ioctl(fd, PERF_EVENT_IOC_SET_FILTER, filter)) ||
	    (ring < 0 && mmap(NULL, RING_BYTES + (size_t)sysconf(_SC_PAGESIZE), PROT_READ,
	                      MAP_SHARED, fd, 0) == MAP_FAILED) ||
	    (ring >= 0 && ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring)) ||
	    ioctl(fd, PERF_EVENT_IOC_ENABLE, 0)) {
		perror("perf_event_open");
		exit(1);
	}
	return fd;
}

static int open_tracepoint(int cpu, const char *name, const char *filter, struct copied copied,
                           int ring)
{
	struct perf_event_attr attr = common();

	attr.type = PERF_TYPE_TRACEPOINT;
	attr.config = id_of(name);
	attr.sample_period = 1;
	attr.sample_type |= PERF_SAMPLE_RAW;
	copy_stack(&attr, copied);
	return open_event(cpu, &attr, filter, ring);
}

static void open_clock(int cpu, int ring)
{
	struct perf_event_attr attr = common();

	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_CPU_CLOCK;
	attr.sample_period = 1000000000 / 997;
	copy_stack(&attr, (struct copied){32768, of_switch.registers});
	open_event(cpu, &attr, NULL, ring);
}

static void open_records(int cpu, int ring)
{
	struct perf_event_attr attr = common();

	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_DUMMY;
	attr.sample_period = 1;
	attr.context_switch = attr.mmap = attr.mmap2 = attr.comm = attr.task = 1;
	open_event(cpu, &attr, NULL, ring);
}

int main(int argc, char **argv)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	sigset_t end;
	int signal;

	if (argc < 5) {
		fprintf(stderr, "usage: bare_waits SWITCH_BYTES SWITCH_REGISTERS WAKE_BYTES "
		                "WAKE_REGISTERS\n");
		return 2;
	}
	of_switch.bytes = (uint32_t)strtoul(argv[1], NULL, 0);
	of_switch.registers = strtoull(argv[2], NULL, 0);
	of_wake.bytes = (uint32_t)strtoul(argv[3], NULL, 0);
	of_wake.registers = strtoull(argv[4], NULL, 0);
	sigemptyset(&end);
	sigaddset(&end, SIGTERM);
	sigaddset(&end, SIGINT);
	sigprocmask(SIG_BLOCK, &end, NULL);
	for (int cpu = 0; cpu < cpus; cpu++) {
		int ring = open_tracepoint(cpu, "sched_switch", "prev_pid != 0", of_switch, -1);

		open_tracepoint(cpu, "sched_waking", "pid != 0", of_wake, ring);
		open_tracepoint(cpu, "sched_wakeup_new", NULL, of_wake, ring);
		open_clock(cpu, ring);
		open_records(cpu, ring);
	}
	printf("ready\n");
	fflush(stdout);
	sigwait(&end, &signal);
	return 0;
}
