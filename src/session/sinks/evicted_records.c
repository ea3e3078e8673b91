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

void evicted_records_done(struct evicted_records *k)
{
	vec_each (thread, &k->threads)
		done_thread(k, thread);
	vec_each (cgroup, &k->cgroups)
		free(cgroup->bytes);
	vec_done(&k->threads);
	vec_done(&k->cgroups);
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

void evicted_records_forget(struct evicted_records *k, int32_t tid)
{
	size_t i = place_of(k, tid);

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

static void remove_cgroup(struct evicted_records *k, size_t i)
{
	k->cgroup_bytes -= k->cgroups.items[i].size;
	free(k->cgroups.items[i].bytes);
	k->cgroups.count--;
	memmove(k->cgroups.items + i, k->cgroups.items + i + 1,
	        (k->cgroups.count - i) * sizeof(*k->cgroups.items));
}

void evicted_records_cgroup(struct evicted_records *k, uint64_t id, const void *record, size_t size)
{
	for (size_t i = 0; i < k->cgroups.count; i++)
		if (k->cgroups.items[i].id == id) {
			remove_cgroup(k, i);
			break;
		}
	while (k->cgroups.count &&
	       (k->cgroups.count == KEPT_CGROUPS || k->cgroup_bytes + size > KEPT_CGROUP_BYTES)) {
		remove_cgroup(k, 0);
		k->dropped_cgroups++;
	}
	k->cgroup_bytes += size;
	vec_push(&k->cgroups, record_of(id, 0, record, size));
}

int evicted_records_each(const struct evicted_records *k,
                         int (*give)(void *ctx, const void *record, size_t size, struct error *err),
                         void *ctx, struct error *err)
{
	int status = 0;

	for (size_t i = 0; !status && i < k->cgroups.count; i++)
		status = give(ctx, k->cgroups.items[i].bytes, k->cgroups.items[i].size, err);
	for (size_t t = 0; !status && t < k->threads.count; t++) {
		const struct kept_thread *thread = &k->threads.items[t];

		for (size_t i = 0; !status && i < thread->outers.count; i++)
			status = give(ctx, thread->outers.items[i].bytes,
			              thread->outers.items[i].size, err);
	}
	return status;
}
