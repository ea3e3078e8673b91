/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Instance numbers of processes with the same name, unique over an unlimited time, in bounded
 * memory.
 *
 * A carried table keeps the last number of each name that is in use or was used recently. All other
 * names share a fixed number of hash slots. Each slot keeps the highest number of its names. A name
 * that comes again continues above that number, so no number is used twice. A new name whose slot
 * has a number starts above 1.
 */
#include "process/process_internal.h"

#include "base/memory/sorted.h"

#include <string.h>

#define NAMES_KEPT 16384
#define PLACES (1u << 16)

static uint32_t *place_of(uint32_t *forgotten, const char *name)
{
	return &forgotten[hash_bytes(name, strlen(name)) % PLACES];
}

static uint32_t *last_number(struct process_table *t, uint32_t name)
{
	while (t->instances.count <= name) {
		uint32_t next = (uint32_t)t->instances.count;

		vec_push(&t->instances,
		         t->forgotten ? *place_of(t->forgotten, intern_text(&t->names, next)) : 0);
	}
	return &t->instances.items[name];
}

uint32_t process_instance_next(struct process_table *t, uint32_t name)
{
	*vec_at(&t->named, name) = t->process_serial;
	return ++*last_number(t, name);
}

void process_instance_return(struct process_table *t, uint32_t name, uint32_t instance)
{
	uint32_t *last = last_number(t, name);

	if (instance && *last == instance)
		--*last;
}

/*
 * The lowest serial of last use for which a name is kept, so that the kept names stay within the
 * limit.
 */
static uint64_t used_since(const struct process_table *old)
{
	VEC(uint64_t) uses = {0};
	uint64_t since = 1;

	vec_each (use, &old->named)
		if (*use)
			vec_push(&uses, *use);
	if (uses.count > NAMES_KEPT) {
		sorted_u64(uses.items, uses.count);
		since = uses.items[uses.count - NAMES_KEPT];
	}
	vec_done(&uses);
	return since;
}

static void forget(struct process_table *t, const char *name, uint32_t number)
{
	uint32_t *place;

	if (!t->forgotten)
		t->forgotten = xcalloc(PLACES, sizeof(*t->forgotten));
	place = place_of(t->forgotten, name);
	if (*place < number)
		*place = number;
}

void process_instances_carry(struct process_table *t, const struct process_table *old)
{
	uint64_t since = used_since(old);

	if (old->forgotten) {
		t->forgotten = xmalloc(PLACES * sizeof(*t->forgotten));
		memcpy(t->forgotten, old->forgotten, PLACES * sizeof(*t->forgotten));
	}
	for (uint32_t i = 0; i < old->instances.count; i++) {
		const char *name = intern_text(&old->names, i);
		uint64_t use = i < old->named.count ? old->named.items[i] : 0;
		uint32_t number = old->instances.items[i];
		uint32_t id = intern_find(&t->names, name);

		if (!number)
			continue;
		/* The names of live processes are in the new table already. */
		if (id == ID_NONE && use < since) {
			forget(t, name, number);
			continue;
		}
		id = intern_add(&t->names, name);
		*last_number(t, id) = number;
		*vec_at(&t->named, id) = use;
	}
}
