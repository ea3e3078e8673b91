/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/waits/system_calls.h"

#define DESCRIPTORS_MAX (1u << 20) /* fs.nr_open by default */
#define ERRORS_MAX 4095            /* the kernel's MAX_ERRNO */

static bool equal(const void *ctx, uint32_t id, const void *key)
{
	const struct system_calls *s = ctx;
	const struct system_call_key *a = &s->sums.items[id].key, *b = key;

	return a->process == b->process && a->number == b->number &&
	       a->descriptor == b->descriptor && a->file == b->file;
}

static uint64_t hash_of(const struct system_call_key *k)
{
	return hash_pair(hash_pair(k->process, (uint32_t)k->number),
	                 hash_pair(k->descriptor, k->file));
}

static struct system_call_sum *find(struct system_calls *s, struct system_call_key key)
{
	uint32_t id = id_table_find(&s->index, hash_of(&key), equal, s, &key);
	struct system_call_sum *sum;

	if (id != ID_NONE)
		return &s->sums.items[id];
	if (s->sums.count >= SYSTEM_CALLS_MAX) {
		if (key.descriptor == SYSTEM_CALL_NO_DESCRIPTOR &&
		    s->sums.count >= 2 * SYSTEM_CALLS_MAX)
			return NULL;
		if (key.descriptor != SYSTEM_CALL_NO_DESCRIPTOR) {
			key.descriptor = SYSTEM_CALL_NO_DESCRIPTOR;
			key.file = ID_NONE;
			return find(s, key);
		}
	}
	id_table_add(&s->index, hash_of(&key), (uint32_t)s->sums.count);
	sum = vec_add(&s->sums);
	sum->key = key;
	sum->min_ns = UINT64_MAX;
	return sum;
}

static void count_error(struct system_call_sum *sum, int error)
{
	sum->failed++;
	vec_each (e, &sum->errors) {
		if (e->error == error) {
			e->count++;
			return;
		}
	}
	vec_push(&sum->errors, (struct system_call_error){.error = error, .count = 1});
}

static void count(struct system_calls *s, uint32_t process, const struct system_call_open *open,
                  uint64_t time_ns, int64_t result)
{
	const struct system_call_key key = {process, open->number, open->descriptor, open->file};
	struct system_call_sum *sum = find(s, key);
	uint64_t ns = time_ns > open->time_ns ? time_ns - open->time_ns : 0;

	if (!sum) {
		s->beyond++;
		return;
	}
	sum->count++;
	sum->ns += ns;
	if (ns < sum->min_ns)
		sum->min_ns = ns;
	if (ns > sum->max_ns)
		sum->max_ns = ns;
	sum->times.timed++;
	sum->times.squares++;
	call_times_count(&sum->times, (double)ns, 1);
	if (result < 0 && result >= -ERRORS_MAX)
		count_error(sum, (int)-result);
}

void system_calls_file(struct system_calls *s, uint32_t process, uint32_t descriptor, uint32_t file)
{
	if (s->wanted)
		descriptor_numbers_set(&s->files, process, descriptor, file);
}

static struct system_call_open *thread_of(struct system_calls *s, uint32_t thread)
{
	return vec_at(&s->threads, thread);
}

void system_calls_add(struct system_calls *s, uint32_t process, uint32_t thread, uint64_t time_ns,
                      const struct event_system_call *call)
{
	struct system_call_open *open;

	if (!s->wanted || thread == ID_NONE)
		return;
	open = thread_of(s, thread);
	if (!call->exit) {
		s->unreturned += open->open;
		*open = (struct system_call_open){
		        .open = true,
		        .number = (int32_t)call->number,
		        .descriptor = call->argument < DESCRIPTORS_MAX ? (uint32_t)call->argument
		                                                       : SYSTEM_CALL_NO_DESCRIPTOR,
		        .file = descriptor_numbers_get(&s->files, process, call->argument),
		        .time_ns = time_ns};
		return;
	}
	if (open->open && open->number == (int32_t)call->number)
		count(s, process, open, time_ns, call->result);
	else
		s->unentered += !open->is_new;
	open->open = open->is_new = false;
}

void system_calls_fork(struct system_calls *s, uint32_t thread)
{
	if (s->wanted && thread != ID_NONE)
		*thread_of(s, thread) = (struct system_call_open){.is_new = true};
}

void system_calls_exec(struct system_calls *s, uint32_t old, uint32_t thread)
{
	struct system_call_open open = {0};

	if (!s->wanted || thread == ID_NONE || old == thread)
		return;
	if (old != ID_NONE) {
		open = *thread_of(s, old);
		*thread_of(s, old) = (struct system_call_open){0};
	}
	*thread_of(s, thread) = open;
}

void system_calls_exit(struct system_calls *s, uint32_t thread)
{
	struct system_call_open *open;

	if (!s->wanted || thread == ID_NONE)
		return;
	open = thread_of(s, thread);
	s->last += open->open;
	*open = (struct system_call_open){0};
}

void system_calls_lost(struct system_calls *s)
{
	vec_each (open, &s->threads) {
		s->unreturned += open->open;
		open->open = open->is_new = false;
	}
}

void system_calls_finish(struct system_calls *s)
{
	system_calls_lost(s);
}

void system_calls_done(struct system_calls *s)
{
	vec_each (sum, &s->sums) {
		call_times_done(&sum->times);
		vec_done(&sum->errors);
	}
	vec_done(&s->sums);
	vec_done(&s->threads);
	descriptor_numbers_done(&s->files);
	id_table_done(&s->index);
}
