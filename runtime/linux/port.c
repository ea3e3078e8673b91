/* SPDX-License-Identifier: MIT */
/* port: the per-thread part of calls/port.h for Linux programs. */
#include "calls/calls.h"
#include "calls/thread.h"
#include "libraries/libraries.h"
#include "linux/filter.h"
#include "linux/images.h"
#include "linux/process.h"
#include "linux/switches.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

__thread struct calls_thread *assay_calls_self = &calls_unborn;

_Static_assert(sizeof(struct switches) <= sizeof(((struct calls_thread *)0)->port),
               "calls_thread.port holds a struct switches");

static pthread_key_t at_end;
static bool has_key;

static struct switches *switches_of(struct calls_thread *t)
{
	return (struct switches *)t->port;
}

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

void port_memory_missed(const volatile void *at)
{
	uintptr_t bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
	int before = errno;
	void *page = (void *)((uintptr_t)at / bytes * bytes);
	void *got = mmap(page, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
	                 -1, 0);

	/* A kernel before 4.17 treats the address as a hint. */
	if (got != MAP_FAILED && got != page)
		munmap(got, bytes);
	errno = before;
}

uint64_t port_thread_cpu_ns(void)
{
	return clock_thread_cpu_ns();
}

static void thread_ends(void *rounds)
{
	uintptr_t left = (uintptr_t)rounds;

	/* The destructors of other keys may be instrumented: run after them. */
	if (left > 1)
		pthread_setspecific(at_end, (void *)(left - 1));
	else
		calls_thread_end();
}

__attribute__((constructor(101))) static void make_key(void)
{
	has_key = !pthread_key_create(&at_end, thread_ends);
	pthread_atfork(calls_fork_prepare, NULL, calls_fork_child);
}

void port_thread_begin(struct calls_thread *t, struct assay_calls_thread *record,
                       volatile uint64_t **watch)
{
	struct switches *s = switches_of(t);
	char name[16] = "";

	if (prctl(PR_GET_NAME, name) == 0)
		memcpy(record->name, name, sizeof(record->name));
	record->name[sizeof(record->name) - 1] = '\0';
	if (switches_open(s, &process_clock))
		calls_flag(ASSAY_CALLS_UNSWITCHED);
	if (s->head)
		*watch = s->head;
	if (has_key && syscall(SYS_getpid) != port_thread_id())
		pthread_setspecific(at_end, (void *)(uintptr_t)3);
}

void port_thread_waits(struct calls_thread *t, uint64_t from, uint64_t to, struct port_waits *w)
{
	struct switches *s = switches_of(t);
	struct assay_calls_thread *r = t->record;

	switches_settle(s, &process_clock, from, to, w);
	r->sync_cpu_ns = s->sync_cpu_ns;
	r->sync = s->sync;
	clock_note(&process_clock);
	calls_table.header->latest = clock_latest(&process_clock);
}

void port_thread_done(struct calls_thread *t)
{
	switches_close(switches_of(t));
}

void port_function(uint64_t function)
{
	int before = errno;
	int index = images_find(function & ASSAY_FN_ADDRESS);
	const struct assay_calls_image *image = index < 0 ? NULL : images_get(index);

	if (image && !(function & ASSAY_FN_LIBRARY) &&
	    calls_table.header->flags & ASSAY_CALLS_LIBRARIES)
		libraries_look(image->start, image->end, image->path);
	errno = before;
}

bool port_wants(uint64_t function)
{
	uint64_t address = function & ASSAY_FN_ADDRESS;

	return !filter_is_set() || filter_wants(address, images_find(address));
}

__attribute__((destructor)) static void process_ends(void)
{
	process_end(ASSAY_CALLS_EXITED);
}

/*
 * quick_exit() runs no destructors. This handler is registered early, so that it runs after the
 * program's own handlers.
 */
int at_quick_exit(void (*handler)(void));

__attribute__((constructor(101))) static void watch_quick_exit(void)
{
	at_quick_exit(process_ends);
}
