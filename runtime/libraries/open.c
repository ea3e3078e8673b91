/* SPDX-License-Identifier: MIT */
/*
 * open: the running thread's library calls that have not returned. Above `top`
 * they are free, but for a signal handler's now and then; below it there may be
 * holes. `top` is lowered when the next call is pushed, over the holes right under it.
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

/* In `slot`: taken, and our return address not in place yet. No stack lies there. */
#define TAKEN ((uintptr_t)1)

struct open_calls {
	struct library_open *top;
	uint64_t misses; /* pushes that found all places up to the end used */
	struct library_open calls[OPEN_MOST];
};

/* The threads' memory, for the next thread when they are gone. Zeros in a forked child. */
struct open_owner {
	int tid;
	struct open_calls *calls;
};

static struct open_owner *owners;
static __thread struct open_calls *own __attribute__((tls_model("initial-exec")));

/* `was` becomes TAKEN at once, as far as signal handlers of this thread can tell. */
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

/* An ended thread's, as it is: what it left is at places of stacks that come again. */
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
		int nobody = 0;

		if (!o->tid && __atomic_compare_exchange_n(&o->tid, &nobody, tid, false,
		                                           __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
			__atomic_store_n(&o->calls, calls, __ATOMIC_RELEASE);
			return;
		}
	}
}

/* This thread's; a signal handler that does the same meanwhile wins. */
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
 * Full: frees what is dead for certain: what lies on this very stack, and has
 * another word than our return address in its place.
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

/* No room at the end: a hole, or NULL. */
static struct library_open *reserve_hole(struct open_calls *calls, uintptr_t sp)
{
	/* Once in so many: it takes a while, and may be of no use. */
	if (calls->misses % OPEN_MOST == 0)
		sweep(calls, sp);
	for (int i = 0; i < NEARBY; i++) {
		struct library_open *o = &calls->calls[calls->misses++ % OPEN_MOST];

		if (!o->slot && take(&o->slot, 0))
			return o;
	}
	return NULL;
}

/* Above the last that is in use. */
static struct library_open *end_of(const struct open_calls *calls)
{
	struct library_open *o = *(struct library_open *const volatile *)&calls->top;

	while (o > calls->calls && !*(volatile uintptr_t *)&o[-1].slot)
		o--;
	return o;
}

/*
 * A free one, TAKEN; NULL: none. What a signal handler takes between these steps is
 * free again when it returns, or lies above `top`, where it is passed over.
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
 * The open call whose return address lay where a new call's does: it is dead, and its
 * place is taken over. Of the last ones alone: few are open at a time.
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
