/* SPDX-License-Identifier: MIT */
/*
 * open: the running thread's library calls that have not returned. The entries above `top` are
 * free, except for entries of signal handlers. There may be free entries below it. The next push
 * lowers `top` over the free entries directly below it.
 */
#include "libraries/open.h"

#include "calls/port.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

#define THREADS_MOST 4096
#define PROBES_MOST 32
#define NEARBY 16

/*
 * Value of `slot`: the entry is reserved, and the return address is not replaced yet. No stack has
 * this address.
 */
#define TAKEN ((uintptr_t)1)

struct open_calls {
	struct library_open *top;
	uint64_t misses; /* pushes that found all entries up to the end in use */
	struct library_open calls[OPEN_MOST];
};

/* The memory of threads; the next thread reuses it after they end. Zeros in a forked child. */
struct open_owner {
	int tid;
	struct open_calls *calls;
};

static struct open_owner *owners;
static __thread struct open_calls *own __attribute__((tls_model("initial-exec")));

/*
 * Replaces `was` by TAKEN in one instruction, so that it is atomic for signal handlers of this
 * thread.
 */
static bool take(uintptr_t *slot, uintptr_t was)
{
#if defined(__x86_64__)
	uintptr_t expected = was;

	__asm__ volatile("cmpxchgq %2, %1" : "+a"(was), "+m"(*slot) : "r"(TAKEN) : "cc", "memory");
	return was == expected;
#else
	return __atomic_compare_exchange_n(slot, &was, TAKEN, false, __ATOMIC_ACQUIRE,
	                                   __ATOMIC_RELAXED);
#endif
}

bool open_begin(void)
{
	owners = port_memory_wiped(THREADS_MOST * sizeof(owners[0]), 0);
	return owners != NULL;
}

static bool is_gone(int tid)
{
	return syscall(SYS_tgkill, getpid(), tid, 0) < 0 && errno == ESRCH;
}

/*
 * Takes over the memory of an ended thread unchanged: its stale entries have stack addresses that
 * the new thread reuses.
 */
static struct open_calls *inherit(int tid)
{
	int probes = PROBES_MOST;
	unsigned begin = (unsigned)tid;

	for (unsigned i = 0; i < THREADS_MOST && probes; i++) {
		struct open_owner *o = &owners[(begin + i) % THREADS_MOST];
		int owner = __atomic_load_n(&o->tid, __ATOMIC_ACQUIRE);

		if (!owner || !__atomic_load_n(&o->calls, __ATOMIC_ACQUIRE))
			continue;
		probes--;
		if ((owner == tid || is_gone(owner)) &&
		    __atomic_compare_exchange_n(&o->tid, &owner, tid, false, __ATOMIC_ACQ_REL,
		                                __ATOMIC_RELAXED))
			return o->calls;
	}
	return NULL;
}

static void enlist(int tid, struct open_calls *calls)
{
	for (unsigned i = 0; i < THREADS_MOST; i++) {
		struct open_owner *o = &owners[((unsigned)tid + i) % THREADS_MOST];
		int free_tid = 0;

		if (!o->tid && __atomic_compare_exchange_n(&o->tid, &free_tid, tid, false,
		                                           __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
			__atomic_store_n(&o->calls, calls, __ATOMIC_RELEASE);
			return;
		}
	}
}

/*
 * Creates this thread's memory. If a signal handler creates it at the same time, the handler's is
 * used.
 */
static struct open_calls *begin(void)
{
	int before = errno, tid = (int)syscall(SYS_gettid);
	struct open_calls *calls = inherit(tid);

	if (!calls) {
		calls = port_memory(sizeof(*calls));
		if (calls) {
			calls->top = calls->calls;
			enlist(tid, calls);
		}
	}
	if (!own)
		own = calls;
	errno = before;
	return own;
}

/*
 * Called when all entries are used. Frees the entries that are certainly dead: their slot lies on
 * the current stack and no longer contains the replaced return address.
 */
static void sweep(struct open_calls *calls, uintptr_t sp)
{
	struct library_open *end = calls->calls + OPEN_MOST;
	struct port_stack stack;
	bool known = *port_self() && port_stack_of(*port_self(), sp, &stack);

	for (struct library_open *o = calls->calls; o < end; o++) {
		uintptr_t slot = __atomic_load_n(&o->slot, __ATOMIC_RELAXED);

		if (slot <= TAKEN || !known || slot < stack.low ||
		    slot >= stack.high - sizeof(slot))
			continue;
		if (*(volatile uintptr_t *)slot != (uintptr_t)assay_libraries_return)
			__atomic_store_n(&o->slot, 0, __ATOMIC_RELAXED);
	}
}

/* Called when there is no room at the end: returns a free entry below `top`, or NULL. */
static struct library_open *reserve_hole(struct open_calls *calls, uintptr_t sp)
{
	/* Sweeps only once in OPEN_MOST misses, since a sweep is slow and may free nothing. */
	if (calls->misses % OPEN_MOST == 0)
		sweep(calls, sp);
	for (int i = 0; i < NEARBY; i++) {
		struct library_open *o = &calls->calls[calls->misses++ % OPEN_MOST];

		if (!o->slot && take(&o->slot, 0))
			return o;
	}
	return NULL;
}

/* The entry after the last used entry. */
static struct library_open *end_of(const struct open_calls *calls)
{
	struct library_open *o = *(struct library_open *const volatile *)&calls->top;

	while (o > calls->calls && !*(volatile uintptr_t *)&o[-1].slot)
		o--;
	return o;
}

/*
 * Reserves a free entry (TAKEN); NULL: there is none. An entry that a signal handler takes between
 * these steps is free again when the handler returns, or lies above `top`, where it is skipped.
 */
static struct library_open *reserve(struct open_calls *calls, uintptr_t sp)
{
	struct library_open *o = end_of(calls);

	for (; o < calls->calls + OPEN_MOST; o++) {
		if (take(&o->slot, 0)) {
			*(struct library_open *volatile *)&calls->top = o + 1;
			return o;
		}
	}
	return reserve_hole(calls, sp);
}

/*
 * Takes over the entry of an open call with the same return address slot: that call is dead.
 * Searches only the last entries, since few calls are open at a time.
 */
static struct library_open *take_over(struct open_calls *calls, uintptr_t slot)
{
	struct library_open *o = end_of(calls), *last = calls->calls;

	if (o - last > NEARBY)
		last = o - NEARBY;
	while (o-- > last)
		if (o->slot == slot && take(&o->slot, slot))
			return o;
	return NULL;
}

struct library_open *open_push(uintptr_t slot, uintptr_t kept)
{
	struct open_calls *calls = own ? own : begin();
	struct library_open *o;

	if (!calls)
		return NULL;
	o = take_over(calls, slot);
	if (!o)
		o = reserve(calls, slot);
	if (!o)
		return NULL;
	o->ra = *(const uintptr_t *)slot;
	o->kept = kept;
	o->sp = slot + sizeof(slot);
	return o;
}
