/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/waits/wait_contention.h"

static bool same_address(const void *ctx, uint32_t id, const void *key)
{
	return ((const struct wait_contention *)ctx)->owners.items[id].address ==
	       *(const uint64_t *)key;
}

static uint32_t find(const struct wait_contention *c, uint64_t address)
{
	return id_table_find(&c->index, hash_pair(address, 0), same_address, c, &address);
}

static void set_owner(struct wait_contention *c, uint64_t address, uint32_t thread)
{
	uint32_t id = find(c, address);

	if (id != ID_NONE) {
		c->owners.items[id].thread = thread;
	} else if (thread != ID_NONE && c->owners.count < WAIT_OWNERS_MAX) {
		id_table_add(&c->index, hash_pair(address, 0), (uint32_t)c->owners.count);
		vec_push(&c->owners, (struct wait_owner){address, thread});
	}
}

void wait_contention_begin(struct wait_contention *c, uint32_t thread, uint64_t address,
                           uint32_t flags)
{
	/* A mutex has the flag SPIN, too, as long as the thread spins before it sleeps. */
	if (flags & WAIT_LOCK_SPIN && !(flags & WAIT_LOCK_MUTEX))
		return;
	*vec_at(&c->threads, thread) = (struct wait_contended){address, (uint8_t)flags};
	if (wait_contention_owner(c, address) == thread)
		set_owner(c, address, ID_NONE);
}

/* Readers share a lock, and so do threads of a semaphore, which any thread may increment. */
static bool has_one_owner(uint8_t flags)
{
	return flags & (WAIT_LOCK_WRITE | WAIT_LOCK_RT | WAIT_LOCK_MUTEX) &&
	       !(flags & (WAIT_LOCK_READ | WAIT_LOCK_PERCPU));
}

void wait_contention_end(struct wait_contention *c, uint32_t thread, uint64_t address,
                         bool acquired)
{
	struct wait_contended *at;

	if (thread >= c->threads.count || c->threads.items[thread].address != address)
		return;
	at = &c->threads.items[thread];
	if (acquired)
		set_owner(c, address, has_one_owner(at->flags) ? thread : ID_NONE);
	*at = (struct wait_contended){0};
}

struct wait_contended wait_contention_of(const struct wait_contention *c, uint32_t thread)
{
	return thread < c->threads.count ? c->threads.items[thread] : (struct wait_contended){0};
}

uint32_t wait_contention_owner(const struct wait_contention *c, uint64_t address)
{
	uint32_t id = find(c, address);

	return id == ID_NONE ? ID_NONE : c->owners.items[id].thread;
}

void wait_contention_forget(struct wait_contention *c)
{
	c->threads.count = 0;
	c->owners.count = 0;
	id_table_clear(&c->index);
}

void wait_contention_done(struct wait_contention *c)
{
	vec_done(&c->threads);
	vec_done(&c->owners);
	id_table_done(&c->index);
}
