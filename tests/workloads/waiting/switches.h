/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * switches: the calling thread's time off the CPU by the kernel's own records of its switches, for
 * programs that wait very often.
 *
 * The time of a call without its CPU time is not the time off the CPU: the kernel stops and starts
 * the CPU clock of a thread before the switch itself, and does not count interrupts and stolen
 * time. While switches are recorded, the difference is 5 us to 15 us for each wait.
 *
 * switches_begin() once, in the thread; then switches_off_ns() at any time on the same thread: the
 * sum of its blocked times so far, in ns, without those in which it was preempted. -1: the kernel
 * does not allow it, or switches_begin() was not called. Uses: no code of assay.
 */
#ifndef SWITCHES_H
#define SWITCHES_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SWITCHES_PAGES 64

/* PERF_RECORD_SWITCH with PERF_SAMPLE_TIME. */
struct switches_record {
	struct perf_event_header header;
	uint64_t time_ns;
};

struct switches {
	struct perf_event_mmap_page *page; /* NULL: none */
	uint64_t out_ns, off_ns;           /* out_ns 0: on the CPU, or preempted */
};

static __thread struct switches switches;

static inline void switches_begin(void)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
	                               .size = sizeof attr,
	                               .config = PERF_COUNT_SW_DUMMY,
	                               .sample_type = PERF_SAMPLE_TIME,
	                               .sample_id_all = 1,
	                               .context_switch = 1,
	                               .exclude_kernel = 1};
	long page = sysconf(_SC_PAGESIZE);
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	void *map;

	if (fd < 0)
		return;
	map = mmap(NULL, (size_t)(page * (SWITCHES_PAGES + 1)), PROT_READ | PROT_WRITE, MAP_SHARED,
	           fd, 0);
	if (map != MAP_FAILED)
		switches.page = map;
	close(fd);
}

static inline void switches_take(const struct switches_record *r)
{
	bool out = r->header.misc & PERF_RECORD_MISC_SWITCH_OUT;

	if (r->header.type != PERF_RECORD_SWITCH)
		return;
	if (!out && switches.out_ns)
		switches.off_ns += r->time_ns - switches.out_ns;
	switches.out_ns =
	        out && !(r->header.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) ? r->time_ns : 0;
}

static inline int64_t switches_off_ns(void)
{
	struct perf_event_mmap_page *page = switches.page;
	uint64_t head, tail;

	if (!page)
		return -1;
	head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	for (tail = page->data_tail; tail < head;) {
		struct switches_record r = {0};
		const char *data = (const char *)page + page->data_offset;

		/* Records of this event have 8 or 16 bytes more, and sizes of whole words. */
		for (size_t i = 0; i < sizeof r; i += 8)
			memcpy((char *)&r + i, data + (tail + i) % page->data_size, 8);
		switches_take(&r);
		tail += r.header.size;
	}
	__atomic_store_n(&page->data_tail, tail, __ATOMIC_RELEASE);
	return (int64_t)switches.off_ns;
}

#endif
