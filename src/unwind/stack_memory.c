/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/stack_memory.h"

#include "base/memory/hash.h"
#include "base/memory/sorted.h"

#define NO_SLOT UINT16_MAX
#define BOUND_EVERY 4096 /* number of samples between checks of the memory limit */

struct stack_memory {
	struct known_stack slots[STACK_MEMORY_THREADS];
	uint32_t used; /* slots that were given out at least once */
	uint32_t hand; /* the next candidate for eviction */
	uint32_t calls;
	VEC(uint16_t) slot_of; /* per thread */
};

struct stack_memory *stack_memory_new(void)
{
	return xcalloc(1, sizeof(struct stack_memory));
}

static void done_frames(struct known_stack *k)
{
	vec_done(&k->frames);
	vec_done(&k->gaps);
	vec_done(&k->pieces);
}

static void empty(struct known_stack *k)
{
	for (uint8_t i = 0; i < k->other_count; i++)
		done_frames(&k->others[i]);
	free(k->others);
	done_frames(k);
	vec_done(&k->aside.frames);
	*k = (struct known_stack){.thread = ID_NONE};
}

void stack_memory_free(struct stack_memory *m)
{
	if (!m)
		return;
	for (uint32_t i = 0; i < m->used; i++)
		empty(&m->slots[i]);
	vec_done(&m->slot_of);
	free(m);
}

static void forget_slot(struct stack_memory *m, struct known_stack *k)
{
	if (k->thread != ID_NONE)
		m->slot_of.items[k->thread] = NO_SLOT;
	empty(k);
}

/* A free slot, or the slot of a thread that was not sampled since the hand last passed it. */
static uint16_t free_slot(struct stack_memory *m)
{
	struct known_stack *k;

	if (m->used < STACK_MEMORY_THREADS)
		return (uint16_t)m->used++;
	for (;;) {
		m->hand = (m->hand + 1) % STACK_MEMORY_THREADS;
		k = &m->slots[m->hand];
		if (!k->recent) {
			forget_slot(m, k);
			return (uint16_t)m->hand;
		}
		k->recent = false;
	}
}

static size_t room_of(const struct known_stack *k)
{
	size_t room = k->frames.room + k->aside.frames.room;

	for (uint8_t i = 0; i < k->other_count; i++)
		room += k->others[i].frames.room;
	return room;
}

/* Evicts the stacks of threads that were not sampled recently, until the limit is met. */
static void bound_frames(struct stack_memory *m, const struct known_stack *keep)
{
	size_t total = 0;

	for (uint32_t i = 0; i < m->used; i++)
		total += room_of(&m->slots[i]);
	for (uint32_t n = 0; n < 2 * m->used && total > STACK_MEMORY_FRAMES; n++) {
		struct known_stack *k = &m->slots[m->hand = (m->hand + 1) % m->used];

		if (k != keep && !k->recent) {
			total -= room_of(k);
			forget_slot(m, k);
		}
		k->recent = k == keep;
	}
}

struct known_stack *stack_memory_of(struct stack_memory *m, uint32_t thread)
{
	struct known_stack *k;
	uint16_t slot;

	while (m->slot_of.count <= thread)
		vec_push(&m->slot_of, NO_SLOT);
	slot = m->slot_of.items[thread];
	if (slot == NO_SLOT) {
		slot = free_slot(m);
		m->slot_of.items[thread] = slot;
		m->slots[slot].thread = thread;
	}
	k = &m->slots[slot];
	k->recent = true;
	if (++m->calls % BOUND_EVERY == 0)
		bound_frames(m, k);
	return k;
}

void stack_memory_forget(struct stack_memory *m, uint32_t thread)
{
	if (thread < m->slot_of.count && m->slot_of.items[thread] != NO_SLOT)
		forget_slot(m, &m->slots[m->slot_of.items[thread]]);
}

uint32_t known_stack_above(const struct known_stack *k, uint64_t cfa)
{
	return (uint32_t)sorted_count(i, k->frames.count, k->frames.items[i].cfa > cfa);
}

uint32_t known_stack_find(const struct known_stack *k, const struct unwind_frame *frame)
{
	uint32_t i = known_stack_above(k, frame->cfa);

	if (i == k->frames.count || k->frames.items[i].cfa != frame->cfa ||
	    k->frames.items[i].pc != frame->pc)
		return STACK_UNKNOWN;
	return i;
}

uint32_t known_stack_joined(const struct known_stack *k)
{
	return k->gaps.count ? *vec_last(&k->gaps) : 0;
}

static bool same_frame(const struct unwind_frame *a, const struct unwind_frame *b)
{
	return a->cfa == b->cfa && a->pc == b->pc;
}

/* Puts frames below the outermost `outer` ones. Returns the number of outermost frames that did not
 * change. */
static uint32_t put_frames(struct known_stack *k, uint32_t outer, const struct unwind_frame *frames,
                           uint32_t count)
{
	uint32_t stay = 0;

	while (stay < count && outer + stay < k->frames.count &&
	       same_frame(&k->frames.items[outer + stay], &frames[count - 1 - stay]))
		stay++;
	vec_reserve(&k->frames, outer + count);
	for (uint32_t i = stay; i < count; i++)
		k->frames.items[outer + i] = frames[count - 1 - i];
	k->frames.count = outer + count;
	return outer + stay;
}

void known_stack_keep(struct known_stack *k, uint32_t outer, const struct unwind_frame *frames,
                      uint32_t count, bool joined)
{
	bool was_gap = false;
	uint32_t stay;

	if (outer > k->frames.count)
		outer = (uint32_t)k->frames.count;
	stay = put_frames(k, outer, frames, count);
	/* The number of a piece implies its callers, so a piece whose callers change needs a new
	 * number. */
	while (k->gaps.count && *vec_last(&k->gaps) >= outer) {
		was_gap = *vec_last(&k->gaps) == outer;
		if (!was_gap || joined)
			stay = *vec_last(&k->gaps) < stay ? *vec_last(&k->gaps) : stay;
		k->gaps.count--;
	}
	if (!joined && outer) {
		if (!was_gap && outer < stay)
			stay = outer;
		vec_push(&k->gaps, outer);
	}
	if (k->pieces.count > stay / STACK_PIECE)
		k->pieces.count = stay / STACK_PIECE;
}

void known_stack_set_aside(struct known_stack *k, uint64_t tag)
{
	size_t count = k->frames.count;

	k->aside.frames.count = 0;
	vec_reserve(&k->aside.frames, count);
	for (size_t i = count; i > 0; i--)
		vec_push(&k->aside.frames, k->frames.items[i - 1]);
	k->aside.tag = tag;
	k->aside.end = k->end;
}

bool known_stack_take_back(struct known_stack *k, const struct unwind_frame *frame, uint64_t tag)
{
	uint32_t count = (uint32_t)k->aside.frames.count;

	if (!count || k->aside.tag != tag || !same_frame(&k->aside.frames.items[0], frame))
		return false;
	known_stack_keep(k, 0, k->aside.frames.items, count, true);
	k->end = k->aside.end;
	return true;
}

/* The frames and what belongs to them; the rest stays with the thread. */
static void exchange_frames(struct known_stack *a, struct known_stack *b)
{
	struct known_stack first = *a;

	memcpy(&a->frames, &b->frames, sizeof(a->frames));
	memcpy(&a->gaps, &b->gaps, sizeof(a->gaps));
	memcpy(&a->pieces, &b->pieces, sizeof(a->pieces));
	a->end = b->end;
	a->beyond = b->beyond;
	a->unchecked = b->unchecked;
	memcpy(&b->frames, &first.frames, sizeof(b->frames));
	memcpy(&b->gaps, &first.gaps, sizeof(b->gaps));
	memcpy(&b->pieces, &first.pieces, sizeof(b->pieces));
	b->end = first.end;
	b->beyond = first.beyond;
	b->unchecked = first.unchecked;
}

void known_stack_keep_other(struct known_stack *k)
{
	if (!k->others)
		k->others = xcalloc(STACK_OTHERS, sizeof(*k->others));
	exchange_frames(k, &k->others[k->other_next]);
	if (k->other_count < STACK_OTHERS)
		k->other_count++;
	k->other_next = (uint8_t)((k->other_next + 1) % STACK_OTHERS);
	/* The room of a replaced stack is used again. */
	k->frames.count = k->gaps.count = k->pieces.count = 0;
	k->beyond = false;
	k->end = k->unchecked = 0;
}

void known_stack_exchange(struct known_stack *k, uint8_t other)
{
	exchange_frames(k, &k->others[other]);
}
