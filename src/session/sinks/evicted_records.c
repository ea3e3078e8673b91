/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/sinks/evicted_records.h"

#include "base/memory/sorted.h"

#include <stdbool.h>
#include <string.h>

static void drop(struct evicted_records *k, struct kept_record *r)
{
	k->bytes -= r->size;
	free(r->bytes);
}

static void done_thread(struct evicted_records *k, struct kept_thread *t)
{
	vec_each (outer, &t->outers)
		drop(k, outer);
	vec_done(&t->outers);
}

static void done_names(struct kept_names *names)
{
	vec_each (record, &names->records)
		free(record->bytes);
	vec_done(&names->records);
}

void evicted_records_done(struct evicted_records *k)
{
	vec_each (thread, &k->threads)
		done_thread(k, thread);
	vec_done(&k->threads);
	done_names(&k->cgroups);
	done_names(&k->descriptors);
}

/* Index of the first thread with this tid or a larger tid. */
static size_t place_of(const struct evicted_records *k, int32_t tid)
{
	return sorted_count(i, k->threads.count, k->threads.items[i].tid < tid);
}

static bool is_at(const struct evicted_records *k, size_t i, int32_t tid)
{
	return i < k->threads.count && k->threads.items[i].tid == tid;
}

static struct kept_thread *thread_of(struct evicted_records *k, int32_t tid)
{
	size_t i = place_of(k, tid);

	if (is_at(k, i, tid))
		return &k->threads.items[i];
	vec_add(&k->threads);
	memmove(k->threads.items + i + 1, k->threads.items + i,
	        (k->threads.count - 1 - i) * sizeof(*k->threads.items));
	k->threads.items[i] = (struct kept_thread){.tid = tid};
	return &k->threads.items[i];
}

static uint64_t descriptor_id(int32_t pid, uint32_t number)
{
	return (uint64_t)(uint32_t)pid << 32 | number;
}

static void forget_descriptors(struct kept_names *names, int32_t pid)
{
	size_t kept = 0;

	vec_each (record, &names->records) {
		if (record->id >> 32 == (uint32_t)pid) {
			names->bytes -= record->size;
			free(record->bytes);
		} else {
			names->records.items[kept++] = *record;
		}
	}
	names->records.count = kept;
}

void evicted_records_forget(struct evicted_records *k, int32_t tid)
{
	size_t i = place_of(k, tid);

	forget_descriptors(&k->descriptors, tid);
	if (!is_at(k, i, tid))
		return;
	done_thread(k, &k->threads.items[i]);
	k->threads.count--;
	memmove(k->threads.items + i, k->threads.items + i + 1,
	        (k->threads.count - i) * sizeof(*k->threads.items));
}

/* Keeps only `parent` and its callers; a caller always comes before its callees. */
static void keep_callers(struct evicted_records *k, struct kept_thread *t, uint32_t parent)
{
	size_t kept = t->outers.count;

	for (size_t i = t->outers.count; i > 0; i--) {
		struct kept_record *outer = &t->outers.items[i - 1];

		if (outer->id == parent) {
			parent = outer->parent;
			t->outers.items[--kept] = *outer;
		} else {
			drop(k, outer);
		}
	}
	t->outers.count -= kept;
	if (t->outers.count)
		memmove(t->outers.items, t->outers.items + kept,
		        t->outers.count * sizeof(*t->outers.items));
}

static struct kept_record record_of(uint64_t id, uint32_t parent, const void *record, size_t size)
{
	struct kept_record kept = {
	        .id = id, .parent = parent, .size = size, .bytes = xmalloc(size)};

	memcpy(kept.bytes, record, size);
	return kept;
}

void evicted_records_outer(struct evicted_records *k, int32_t tid, uint32_t id, uint32_t parent,
                           const void *record, size_t size)
{
	struct kept_thread *t = thread_of(k, tid);

	keep_callers(k, t, parent);
	if (size > k->bytes_max || k->bytes > k->bytes_max - size) {
		k->dropped++;
		return;
	}
	k->bytes += size;
	vec_push(&t->outers, record_of(id, parent, record, size));
}

static void remove_name(struct kept_names *names, size_t i)
{
	names->bytes -= names->records.items[i].size;
	free(names->records.items[i].bytes);
	names->records.count--;
	memmove(names->records.items + i, names->records.items + i + 1,
	        (names->records.count - i) * sizeof(*names->records.items));
}

static void keep_name(struct kept_names *names, uint64_t id, const void *record, size_t size)
{
	for (size_t i = 0; i < names->records.count; i++)
		if (names->records.items[i].id == id) {
			remove_name(names, i);
			break;
		}
	while (names->records.count &&
	       (names->records.count == KEPT_NAMES || names->bytes + size > KEPT_NAME_BYTES)) {
		remove_name(names, 0);
		names->dropped++;
	}
	names->bytes += size;
	vec_push(&names->records, record_of(id, 0, record, size));
}

void evicted_records_cgroup(struct evicted_records *k, uint64_t id, const void *record, size_t size)
{
	keep_name(&k->cgroups, id, record, size);
}

void evicted_records_descriptor(struct evicted_records *k, int32_t pid, uint32_t number,
                                const void *record, size_t size)
{
	keep_name(&k->descriptors, descriptor_id(pid, number), record, size);
}

typedef int give_fn(void *ctx, const void *record, size_t size, struct error *err);

static int each_name(const struct kept_names *names, give_fn *give, void *ctx, struct error *err)
{
	int status = 0;

	for (size_t i = 0; !status && i < names->records.count; i++)
		status =
		        give(ctx, names->records.items[i].bytes, names->records.items[i].size, err);
	return status;
}

int evicted_records_each(const struct evicted_records *k,
                         int (*give)(void *ctx, const void *record, size_t size, struct error *err),
                         void *ctx, struct error *err)
{
	int status = each_name(&k->cgroups, give, ctx, err);

	if (!status)
		status = each_name(&k->descriptors, give, ctx, err);
	for (size_t t = 0; !status && t < k->threads.count; t++) {
		const struct kept_thread *thread = &k->threads.items[t];

		for (size_t i = 0; !status && i < thread->outers.count; i++)
			status = give(ctx, thread->outers.items[i].bytes,
			              thread->outers.items[i].size, err);
	}
	return status;
}
