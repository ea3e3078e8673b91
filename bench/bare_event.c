/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bare_event: the sampled event that a recorder opens, without a reader.
 *
 * One cpu-clock event a CPU, at the given frequency and with the same sample
 * type and call chains as `assay record -a -g`, into rings mapped read-only,
 * which the kernel overwrites continuously. The slowdown of a program beside it is the kernel's
 * cost of sampling, which no recorder can avoid. Runs until SIGTERM or SIGINT.
 * Usage: bare_event HZ. Prints "ready" when it samples.
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

#define RING_PAGES 128

static int open_on(int cpu, uint64_t hz)
{
	struct perf_event_attr attr = {
	        .type = PERF_TYPE_SOFTWARE,
	        .size = sizeof attr,
	        .config = PERF_COUNT_SW_CPU_CLOCK,
	        .sample_period = 1000000000u / hz,
	        .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
	                       PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
	                       PERF_SAMPLE_CALLCHAIN,
	        .disabled = 1,
	        .use_clockid = 1,
	        .clockid = CLOCK_MONOTONIC,
	};
	size_t size = (RING_PAGES + 1) * (size_t)sysconf(_SC_PAGESIZE);
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return -1;
	if (mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED)
		return -1;
	return ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
}

int main(int argc, char **argv)
{
	uint64_t hz = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	sigset_t end;
	int signal;

	if (!hz) {
		fprintf(stderr, "usage: bare_event HZ\n");
		return 2;
	}
	sigemptyset(&end);
	sigaddset(&end, SIGTERM);
	sigaddset(&end, SIGINT);
	sigprocmask(SIG_BLOCK, &end, NULL);
	for (int cpu = 0; cpu < cpus; cpu++) {
		if (open_on(cpu, hz)) {
			perror("perf_event_open");
			return 1;
		}
	}
	puts("ready");
	fflush(stdout);
	sigwait(&end, &signal);
	return 0;
}
