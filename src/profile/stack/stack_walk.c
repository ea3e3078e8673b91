/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/stack/stack_walk.h"

#include "base/memory/xalloc.h"
#include "profile/stack/sample_walk.h"

#include <linux/perf_event.h>
#include <stdlib.h>

/* The lines of this many frames are prefetched, and of each frame this many bytes below its CFA,
 * where most registers are saved. */
#define PREFETCHED_FRAMES 64
#define SAVED_BYTES 64

struct stack_walk *stack_walk_new(struct process_table *processes, struct image_table *images,
                                  const struct stack_walk_options *options)
{
	struct stack_walk *w = xcalloc(1, sizeof(*w));

	w->processes = processes;
	w->options = *options;
	w->machine = unwind_native();
	w->chain.last_outer = options->outer_given;
	if (w->machine)
		w->code = stack_code_new(processes, images, w->machine, &w->options, &w->counts);
	w->memory = stack_memory_new();
	if (options->live)
		w->live = remote_stack_new(options->foreign);
	return w;
}

void stack_walk_free(struct stack_walk *w)
{
	if (!w)
		return;
	stack_code_free(w->code);
	stack_memory_free(w->memory);
	remote_stack_free(w->live);
	vec_done(&w->frames);
	free(w);
}

void stack_walk_take_tables(struct stack_walk *w, struct stack_walk *before,
                            const struct image_table *images_before)
{
	if (w->code && before->code)
		stack_code_take_tables(w->code, before->code, images_before);
}

/* Walks the frames in the copy. If the rest is known, it is taken from the known frames. */
static enum stack_end walk_copy(struct sample_walk *s)
{
	size_t checked = sample_walk_checked(s);
	enum stack_end end;

	if (sample_walk_recall(s, &end))
		return end;
	do {
		if (s->w->frames.count >= STACK_DEPTH_MAX)
			return STACK_CUT_LIMIT;
		end = sample_walk_frame(s);
		if (end != STACK_END_UNKNOWN || s->w->frames.count < checked)
			continue;
		checked = checked < SAMPLE_WALK_CHECKED_EACH ? checked + 1 : 2 * checked;
		if (sample_walk_rest_stands(s, &end))
			return end;
	} while (end == STACK_END_UNKNOWN);
	return end;
}

static void without_registers(struct stack_walk *w, const struct event *e,
                              struct stack_walk_result *result)
{
	const struct event_sample *sample = &e->sample;
	struct unwind_cursor cursor;

	result->end = STACK_NO_REGISTERS;
	result->chain = w->chain.addresses;
	if (e->mode == CPU_MODE_USER) {
		w->chain.addresses[result->count++] = sample->ip;
	} else if (!sample->regs) {
		result->end = STACK_NONE;
	} else if (w->machine &&
	           unwind_start(&cursor, w->machine, sample->regs, sample->regs_mask)) {
		/* A 32-bit program: only the place where it entered the kernel is known. */
		w->chain.addresses[result->count++] = cursor.regs.pc;
	}
}

/*
 * Most cache lines of the copy are not in a cache: the kernel wrote them on another CPU, or long
 * ago. A walk would wait for one line after the other. The thread's outer frames are mostly those
 * of its last sample, so their lines are prefetched together.
 */
static void prefetch_frames(const struct sample_walk *s)
{
	const struct unwind_memory *m = &s->memory;
	size_t count = s->known->frames.count,
	       last = count > PREFETCHED_FRAMES ? count - PREFETCHED_FRAMES : 0;

	for (size_t i = count; i > last; i--) {
		uint64_t into = s->known->frames.items[i - 1].cfa - m->start;

		if (into > m->size || into < SAVED_BYTES)
			continue;
		__builtin_prefetch(m->bytes + into - 1);
		__builtin_prefetch(m->bytes + into - SAVED_BYTES);
	}
}

/* The user's part of the kernel's chain. */
static void take_chain(struct sample_walk *s, const struct event_sample *sample)
{
	uint32_t from = 0;

	s->chain_count = 0;
	while (from < sample->chain_count && sample->chain[from] != CHAIN_CONTEXT_USER)
		from++;
	if (from == sample->chain_count)
		return;
	s->chain = sample->chain + from + 1;
	s->chain_count = sample->chain_count - from - 1;
}

static void begin_walk(struct sample_walk *s, uint32_t process, uint32_t thread,
                       const struct event_sample *sample)
{
	struct stack_walk *w = s->w;

	s->process = process;
	s->version = process_table_maps_version(w->processes, process, CPU_MODE_USER);
	s->known = stack_memory_of(w->memory, thread);
	s->memory.bytes = sample->stack;
	s->memory.start = s->cursor.floor;
	s->memory.size = sample->stack ? sample->stack_size : 0;
	s->memory.read = NULL;
	s->base = 0;
	s->tag = 0;
	s->floor = s->memory.start;
	s->match = STACK_UNKNOWN;
	s->pc = s->cursor.regs.pc;
	s->fp = s->cursor.regs.known >> w->machine->fp & 1 ? s->cursor.regs.value[w->machine->fp]
	                                                   : 0;
	s->at = 0;
	s->kept = s->recalled = s->joined = false;
	take_chain(s, sample);
	w->frames.count = 0;
	prefetch_frames(s);
}

/*
 * Walks the copy. False: a required table is not open; then the known frames are unchanged. Tables
 * that only frames beyond the copy need are opened at once.
 */
static bool walk_copy_or_wait(struct sample_walk *s, enum stack_end *end)
{
	struct stack_walk *w = s->w;
	uint64_t by_frame_pointer = w->counts.by_frame_pointer;

	stack_code_put_off(w->code, w->options.puts_off && !w->opens);
	*end = walk_copy(s);
	if (stack_code_later(w->code)) {
		w->counts.by_frame_pointer = by_frame_pointer;
		return false;
	}
	stack_code_put_off(w->code, false);
	w->opens = false;
	w->counts.samples++;
	return true;
}

void stack_walk_sample(struct stack_walk *w, uint32_t process, uint32_t thread,
                       const struct event *e, struct stack_walk_result *result)
{
	const struct event_sample *sample = &e->sample;
	enum stack_end end;
	struct sample_walk s;

	*result = (struct stack_walk_result){.end = STACK_NONE};
	if (!w->machine || !sample->regs || sample->regs_abi != PERF_SAMPLE_REGS_ABI_64 ||
	    !unwind_start(&s.cursor, w->machine, sample->regs, sample->regs_mask)) {
		w->counts.samples++;
		without_registers(w, e, result);
		return;
	}
	s.w = w;
	s.time_ns = e->time_ns;
	begin_walk(&s, process, thread, sample);
	if (!walk_copy_or_wait(&s, &end)) {
		result->later = true;
		return;
	}
	/* During execve(): the registers are those of the old program, the mappings those of the
	 * new one. Calls of [vsyscall], at the end of the addresses, are in the kernel, too. */
	if (end == STACK_NOT_CODE && w->frames.count == 1 && e->mode == CPU_MODE_KERNEL &&
	    !(s.pc >> 63))
		return;
	if (end == STACK_CUT_COPY)
		sample_walk_chain(&s, &end);
	if (s.joined) /* without CFAs, so the frames are not known later */
		result->end = end;
	else if (end == STACK_WHOLE && s.match != STACK_UNKNOWN)
		result->end =
		        sample_walk_stitch(&s) == STACK_STITCHED ? STACK_WHOLE : STACK_CUT_LIMIT;
	else
		result->end = sample_walk_remember(&s, end);
	if (!s.joined && (stack_quality(result->end) == STACK_QUALITY_WHOLE ||
	                  stack_quality(result->end) == STACK_QUALITY_STITCHED))
		sample_walk_keep_place(&s);
	*(s.recalled ? &w->counts.stitched_frames : &w->counts.frames) += w->frames.count;
	stack_chain_give(&w->chain, &w->options, w->frames.items, s.kept ? s.base : w->frames.count,
	                 s.kept ? s.known : NULL, result);
}

void stack_walk_trust(struct stack_walk *w, bool trusts)
{
	w->trusts = trusts;
}

void stack_walk_open(struct stack_walk *w)
{
	w->opens = !w->code || !stack_code_open(w->code);
}

void stack_walk_forget(struct stack_walk *w, uint32_t thread)
{
	stack_memory_forget(w->memory, thread);
}

const struct stack_walk_counts *stack_walk_counts(const struct stack_walk *w)
{
	return &w->counts;
}
