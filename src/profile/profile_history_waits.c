/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The waits of a history. A selection has the parts of waits that are in its time: a wait that
 * began before it is cut, and so is one that has not ended yet.
 */
#include "profile/profile_history_internal.h"

#include <string.h>

#define WAITS_MAX (1u << 20) /* single waits in all slices, 40 bytes each */
/* Single waits since the start, for percentiles. */
#define WAITS_OF_ALL (1u << 18)

/* ---- windows in ---------------------------------------------------------- */

static uint32_t thread_or_none(struct history_ids *ids, uint32_t thread)
{
	return thread == ID_NONE ? ID_NONE : history_thread(ids, thread);
}

static uint32_t process_of(const struct profile *p, uint32_t thread)
{
	return process_table_thread_at(p->processes, thread)->process;
}

/* The file of a page fault is a descriptor of no process. */
static uint32_t fault_file_id(struct wait_log *to, const struct wait_descriptor *d)
{
	for (uint32_t i = 0; i < to->descriptors.count; i++)
		if (to->descriptors.items[i].process == ID_NONE &&
		    !strcmp(to->descriptors.items[i].name, d->name))
			return i;
	return wait_log_descriptor(to, ID_NONE, d->number, d->from_ns, d->name);
}

/* The name of a descriptor, which is kept until another one has the number. */
static uint32_t descriptor_id(struct history_ids *ids, uint32_t id)
{
	struct wait_log *to = &ids->h->waits;
	const struct wait_descriptor *d, *known;
	uint32_t process, found;

	if (id == ID_NONE)
		return ID_NONE;
	d = &ids->from->waits.descriptors.items[id];
	if (d->process == ID_NONE)
		return fault_file_id(to, d);
	process = history_process(ids, d->process);
	found = descriptor_numbers_get(&to->numbers, process, d->number);
	known = found == ID_NONE ? NULL : &to->descriptors.items[found];
	if (known && !strcmp(known->name, d->name))
		return found;
	found = wait_log_descriptor(to, process, d->number, d->from_ns, d->name);
	if (found != ID_NONE)
		wait_log_number(to, process, d->number, found);
	return found;
}

/* Keeps to which file the address belongs for which a thread waited. */
static void take_address(struct history_ids *ids, const struct wait_key *key)
{
	uint32_t process = process_of(ids->from, key->thread);
	const struct wait_address *known =
	        wait_addresses_find(&ids->from->waits.addresses, process, key->argument);
	struct wait_address copy;

	if (!key->in_system_call || !known)
		return;
	copy = *known;
	copy.process = history_process(ids, process);
	copy.code.image = history_image(ids, known->code.image);
	wait_addresses_put(&ids->h->waits.addresses, &copy);
}

static uint32_t sum_id(struct history_ids *ids, const struct wait_key *key)
{
	struct wait_key k = *key;

	take_address(ids, key);
	k.thread = history_thread(ids, key->thread);
	k.path = history_path(ids, key->path);
	k.waker = thread_or_none(ids, key->waker);
	k.waker_path = key->waker_path == ID_NONE ? ID_NONE : history_path(ids, key->waker_path);
	k.descriptor = descriptor_id(ids, key->descriptor);
	k.waker_descriptor = descriptor_id(ids, key->waker_descriptor);
	if (key->fault_file)
		k.fault_file = descriptor_id(ids, key->fault_file - 1) + 1;
	return wait_log_sum(&ids->h->waits, &k);
}

static void take_births(struct history_ids *ids)
{
	vec_each (birth, &ids->from->waits.births) {
		struct wait_birth copy = *birth;

		copy.thread = history_thread(ids, birth->thread);
		copy.parent = thread_or_none(ids, birth->parent);
		if (birth->parent_path != ID_NONE)
			copy.parent_path = history_path(ids, birth->parent_path);
		vec_push(&ids->h->waits.births, copy);
	}
}

static void subtract(struct wait_sum *sum, const struct wait_log *l, const struct wait *w)
{
	uint64_t blocked_ns = wait_log_blocked_ns(l, w);

	sum->count--;
	sum->blocked_ns -= blocked_ns;
	sum->runnable_ns -= w->in_ns - w->out_ns - blocked_ns;
}

static void add_sum(struct wait_sum *to, const struct wait_sum *sum)
{
	to->count += sum->count;
	to->blocked_ns += sum->blocked_ns;
	to->runnable_ns += sum->runnable_ns;
	to->max_ns = sum->max_ns > to->max_ns ? sum->max_ns : to->max_ns;
}

static struct wait translated(struct history_ids *ids, const struct wait *wait,
                              const uint32_t *sums)
{
	struct wait w = *wait;

	w.sum = sums[wait->sum];
	w.instead = thread_or_none(ids, wait->instead);
	return w;
}

/* `left`: sums of the window, in the end without these waits. */
static void take_open(struct history_ids *ids, const uint32_t *sums, struct wait_sum *left)
{
	const struct wait_log *from = &ids->from->waits;

	ids->h->open.count = 0;
	for (size_t i = from->waits.count - from->open; i < from->waits.count; i++) {
		subtract(&left[from->waits.items[i].sum], from, &from->waits.items[i]);
		vec_push(&ids->h->open, translated(ids, &from->waits.items[i], sums));
	}
}

static void take_ended(struct history_ids *ids, struct history_slice *s, const uint32_t *sums,
                       struct wait_sum *left)
{
	const struct wait_log *from = &ids->from->waits;
	struct profile_history *h = ids->h;

	for (size_t i = 0; i + from->open < from->waits.count; i++) {
		const struct wait *wait = &from->waits.items[i];
		struct wait w = translated(ids, wait, sums);

		if (h->waits.waits.count < WAITS_OF_ALL)
			vec_push(&h->waits.waits, w);
		if (h->single_waits == WAITS_MAX)
			continue;
		vec_push(&s->waits, w);
		h->single_waits++;
		subtract(&left[wait->sum], from, wait);
	}
}

/* The sums since the start, and what is left in the slice. */
static void take_sums(struct history_ids *ids, const uint32_t *sums, const struct wait_sum *ended)
{
	struct wait_log *all = &ids->h->waits;

	for (size_t i = 0; i < ids->from->waits.sums.count; i++) {
		if (ended[i].count)
			add_sum(&all->sums.items[sums[i]], &ended[i]);
		ids->h->ended_waits += ended[i].count;
	}
}

static void take_rest(struct history_ids *ids, struct history_slice *s, const uint32_t *sums,
                      const struct wait_sum *left)
{
	for (size_t i = 0; i < ids->from->waits.sums.count; i++)
		if (left[i].count)
			vec_push(&s->rest, (struct history_rest){sums[i], left[i]});
}

/* Names, addresses and births are those of the history. */
static void lend(const struct profile_history *h, struct wait_log *l)
{
	memcpy(&l->descriptors, &h->waits.descriptors, sizeof(l->descriptors));
	memcpy(&l->births, &h->waits.births, sizeof(l->births));
	l->addresses = h->waits.addresses;
	l->wanted = true;
	l->has_wakings = h->waits.has_wakings;
	l->unknown_path = h->waits.unknown_path;
	l->coarse = h->waits.coarse;
}

void history_waits_add(struct history_ids *ids, struct history_slice *s)
{
	const struct wait_log *from = &ids->from->waits;
	struct wait_log *all = &ids->h->waits;
	struct wait_sum *left;
	uint32_t *sums;

	if (!from->wanted)
		return;
	all->wanted = true;
	all->has_wakings = from->has_wakings;
	all->unknown_path = history_path(ids, from->unknown_path);
	left = xmalloc((from->sums.count + 1) * sizeof(*left));
	sums = xmalloc((from->sums.count + 1) * sizeof(*sums));
	for (size_t i = 0; i < from->sums.count; i++) {
		left[i] = from->sums.items[i];
		sums[i] = sum_id(ids, &left[i].key);
	}
	take_births(ids);
	take_open(ids, sums, left);
	take_sums(ids, sums, left);
	take_ended(ids, s, sums, left);
	take_rest(ids, s, sums, left);
	s->wakings = from->wakings;
	all->wakings += from->wakings;
	all->coarse += from->coarse;
	free(left);
	free(sums);
	/* A selection stays valid. */
	if (ids->h->profile->waits.wanted)
		lend(ids->h, &ids->h->profile->waits);
}

void history_waits_forget(struct profile_history *h, struct history_slice *s)
{
	h->single_waits -= s->waits.count;
	vec_done(&s->waits);
	vec_done(&s->rest);
}

void history_waits_done(struct profile_history *h)
{
	wait_log_done(&h->waits);
	vec_done(&h->open);
	memset(&h->waits, 0, sizeof(h->waits));
	h->ended_waits = 0;
}

/* ---- selections out ------------------------------------------------------ */

void history_waits_give_back(struct profile_history *h)
{
	struct wait_log *l = &h->profile->waits;

	if (!l->wanted)
		return;
	vec_done(&l->sums);
	vec_done(&l->waits);
	memset(l, 0, sizeof(*l));
}

/* The part of a wait from `from_ns` on. */
static void add_part(struct wait_log *l, const struct wait *wait, uint64_t from_ns)
{
	struct wait w = *wait;

	if (w.out_ns < from_ns)
		w.out_ns = from_ns;
	if (w.woken_ns && w.woken_ns < w.out_ns)
		w.woken_ns = w.out_ns;
	wait_log_add(l, &w);
}

static void add_slice(struct wait_log *l, const struct history_slice *s, uint64_t from_ns)
{
	vec_each (w, &s->waits)
		add_part(l, w, from_ns);
	vec_each (rest, &s->rest) {
		add_sum(&l->sums.items[rest->sum], &rest->sums);
		l->beyond += rest->sums.count;
	}
	l->wakings += s->wakings;
}

void history_waits_select(struct profile_history *h, size_t first, bool all)
{
	struct wait_log *l = &h->profile->waits;
	uint64_t from_ns = all ? h->start_ns : h->slices.items[first].from_ns;

	if (!h->waits.wanted)
		return;
	lend(h, l);
	vec_each (sum, &h->waits.sums)
		vec_push(&l->sums, all ? *sum : (struct wait_sum){.key = sum->key});
	if (all) {
		vec_each (w, &h->waits.waits)
			vec_push(&l->waits, *w);
		l->beyond = h->ended_waits - h->waits.waits.count;
		l->wakings = h->waits.wakings;
	}
	for (size_t i = first; !all && i < h->slices.count; i++)
		add_slice(l, &h->slices.items[i], from_ns);
	vec_each (w, &h->open)
		add_part(l, w, from_ns);
	wait_log_tidy(l);
	l->start_ns = from_ns;
	l->end_ns = vec_last(&h->slices)->to_ns;
}
