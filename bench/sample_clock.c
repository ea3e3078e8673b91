/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sample_clock: a clock that samples every CPU, switched on and off from outside.
 *
 * Opens cpu-clock at HZ on each CPU as `assay record -a` does. Only this program drains the rings,
 * at each switch. Reads `1` (on) and `0` (off) from standard input, and answers each with the same
 * character when it is done. Exits at the end of its input. Usage: sample_clock HZ
 */
#define _GNU_SOURCE
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define CPUS_MAX 1024
#define RING_BYTES (4u << 20)

static struct {
	int fd;
	struct perf_event_mmap_page *ring;
} cpus[CPUS_MAX];

static int open_on(int cpu, double hz)
{
	struct perf_event_attr attr = {
	        .type = PERF_TYPE_SOFTWARE,
	        .size = sizeof(attr),
	        .config = PERF_COUNT_SW_CPU_CLOCK,
	        .sample_period = (uint64_t)(1e9 / hz),
	        .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
	                       PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
	                       PERF_SAMPLE_CALLCHAIN,
	        .exclude_callchain_user = 1,
	        .disabled = 1,
	        .use_clockid = 1,
	        .clockid = CLOCK_MONOTONIC,
	        .watermark = 1,
	        .wakeup_watermark = RING_BYTES,
	};
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	cpus[cpu].fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (cpus[cpu].fd < 0)
		return -1;
	cpus[cpu].ring =
	        mmap(NULL, page + RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, cpus[cpu].fd, 0);
	return cpus[cpu].ring == MAP_FAILED ? -1 : 0;
}

static void turn(long count, int on)
{
	for (long cpu = 0; cpu < count; cpu++) {
		struct perf_event_mmap_page *ring = cpus[cpu].ring;

		ring->data_tail = __atomic_load_n(&ring->data_head, __ATOMIC_ACQUIRE);
		ioctl(cpus[cpu].fd, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
	}
}

int main(int argc, char **argv)
{
	long count = sysconf(_SC_NPROCESSORS_ONLN);
	double hz = argc == 2 ? atof(argv[1]) : 0;
	char word;

	if (hz < 1 || count > CPUS_MAX) {
		fprintf(stderr, "usage: sample_clock HZ\n");
		return 2;
	}
	for (long cpu = 0; cpu < count; cpu++)
		if (open_on((int)cpu, hz)) {
			perror("sample_clock: perf_event_open");
			return 1;
		}
	while (read(STDIN_FILENO, &word, 1) == 1) {
		turn(count, word == '1');
		if (write(STDOUT_FILENO, &word, 1) != 1)
			return 1;
	}
	return 0;
}
