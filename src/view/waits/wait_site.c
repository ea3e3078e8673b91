/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/waits/wait_site.h"

#include "view/waits/wait_object.h"

static bool same_site(const void *ctx, uint32_t id, const void *key)
{
	const struct wait_site *a = &((const struct wait_sites *)ctx)->items.items[id], *b = key;

	return a->process == b->process && a->address == b->address && a->function == b->function;
}

static uint64_t hash_of(const struct wait_site *s)
{
	return hash_pair(hash_pair(s->process, s->address), (uint64_t)(uintptr_t)s->function);
}

static struct wait_site *site_of(struct wait_sites *s, const struct wait_site *key)
{
	uint32_t id = id_table_find(&s->index, hash_of(key), same_site, s, key);

	if (id == ID_NONE) {
		id = (uint32_t)s->items.count;
		id_table_add(&s->index, hash_of(key), id);
		vec_push(&s->items, *key);
	}
	return &s->items.items[id];
}

static void add_sum(struct wait_causes *c, const struct wait_log *log, const struct wait_sum *sum)
{
	const struct wait_key *k = &sum->key;
	struct wait_cause cause = wait_cause_of(c, k, wait_descriptor_name(log, k));
	struct wait_site key = {.address = k->argument}, *best;
	uint64_t ns;

	if (cause.argument != ARGUMENT_FUTEX || cause.place == ID_NONE)
		return;
	key.process = process_table_thread_at(c->view->profile->processes, k->thread)->process;
	key.function = view_function(c->view, cause.place);
	ns = site_of(&c->sites, &key)->ns += sum->blocked_ns + 1;
	best = site_of(&c->sites,
	               &(struct wait_site){.process = key.process, .address = key.address});
	if (ns > best->best_ns) {
		best->best_ns = ns;
		best->best = key.function;
	}
}

const char *wait_site_function(struct wait_causes *c, const struct wait_log *log, uint32_t process,
                               uint64_t address)
{
	const struct wait_site key = {.process = process, .address = address};
	uint32_t id;

	if (!c->sites.found) {
		c->sites.found = true;
		vec_each (sum, &log->sums)
			if (sum->key.in_system_call && sum->key.argument)
				add_sum(c, log, sum);
	}
	id = id_table_find(&c->sites.index, hash_of(&key), same_site, &c->sites, &key);
	return id == ID_NONE || !c->sites.items.items[id].best
	               ? NULL
	               : c->sites.items.items[id].best->name;
}

void wait_sites_done(struct wait_sites *s)
{
	id_table_done(&s->index);
	vec_done(&s->items);
	*s = (struct wait_sites){0};
}
