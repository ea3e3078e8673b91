/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "launch/tags/trigger_cost.h"

#if defined(__x86_64__)

#include "base/clock.h"
#include "base/statistics/samples.h"
#include "source/perf/clock_pair.h"

#define ROUNDS 15
#define EVENTS 1000 /* in one packet */
#define WORK 80     /* steps of work, each of some cycles: longer than a trigger */
/* The clock of a virtual machine and of a busy core are not better known; and pages of the memory
 * of events are touched for the first time by triggers, too. */
#define MARGIN 0.2

struct place {
	struct assay_tags_self self;
	uint64_t words[ASSAY_TAGS_ROOM / 8 + 1];
};

static inline __attribute__((always_inline)) void trigger(struct assay_tags_self *const *at)
{
	uint64_t self, slot;

	__asm__ volatile("mov %2, %0\n\t"
	                 "mov (%0), %0\n\t"
	                 "lfence\n\t"
	                 "rdtsc\n\t"
	                 "shl $32, %%rdx\n\t"
	                 "or %%rdx, %%rax\n\t"
	                 "mov $8, %k1\n\t"
	                 "xadd %1, (%0)\n\t"
	                 "lea -%c3(%1), %%rdx\n\t"
	                 "sub 8(%0), %%rdx\n\t"
	                 "cmp %4, %%rdx\n\t"
	                 "jae 1f\n\t"
	                 "mov %%rax, %%rdx\n\t"
	                 "shr $40, %%rdx\n\t"
	                 "cmp %%rdx, 16(%0)\n\t"
	                 "jne 1f\n\t"
	                 "shl $24, %%rax\n\t"
	                 "or $2, %%rax\n\t"
	                 "cmp -8(%1), %%rax\n\t"
	                 "jb 1f\n\t"
	                 "mov %%rax, (%1)\n"
	                 "1:"
	                 : "=&r"(self), "=&r"(slot)
	                 : "r"(at), "i"(ASSAY_TAGS_BIAS), "i"(ASSAY_TAGS_ROOM)
	                 : "rax", "rdx", "cc", "memory");
}

/* Each step needs the result of the one before. */
static inline __attribute__((always_inline)) uint64_t work(uint64_t x, int steps)
{
	for (int i = 0; i < steps; i++) {
		x = x * UINT64_C(6364136223846793005) + 1;
		__asm__ volatile("" : "+r"(x));
	}
	return x;
}

/* ns of an event and of the work after it; `words`: of triggers, else of work alone. */
static double round_ns(struct place *p, int steps, bool triggers)
{
	struct assay_tags_self *self = &p->self;
	uint64_t begin, x = 1;

	self->at = (uintptr_t)(p->words + 1);
	self->base = self->at - ASSAY_TAGS_BIAS;
	self->turn = clock_pair_ticks() >> ASSAY_TAGS_CLOCK_BITS;
	begin = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	for (int i = 0; triggers && i < EVENTS; i++) {
		trigger(&self);
		x = work(x, steps);
	}
	for (int i = 0; !triggers && i < EVENTS; i++)
		x = work(x, steps);
	return (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin) / EVENTS;
}

static double median_ns(struct place *p, int steps, bool triggers)
{
	double ns[ROUNDS];

	for (int i = 0; i < ROUNDS; i++)
		ns[i] = round_ns(p, steps, triggers);
	return sort_median(ns, ROUNDS);
}

struct tag_trigger_cost trigger_cost_measure(void)
{
	static struct place p; /* zeros; threads that measure at a time change only the result */
	double most = median_ns(&p, 0, true);
	double least = median_ns(&p, WORK, true) - median_ns(&p, WORK, false);

	if (!(least > 0 && most > least))
		return (struct tag_trigger_cost){0};
	return (struct tag_trigger_cost){(uint64_t)(1000 * least * (1 - MARGIN)),
	                                 (uint64_t)(1000 * most * (1 + MARGIN))};
}

#else

struct tag_trigger_cost trigger_cost_measure(void)
{
	return (struct tag_trigger_cost){0};
}

#endif
