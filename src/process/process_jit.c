/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names for generated code. They are looked up at the first sample of a process that can have such
 * code.
 */
#include "process/mapped_image.h"
#include "process/process_internal.h"

#include "base/memory/xalloc.h"

#include <string.h>

/*
 * A file time counts as later only if it is later by more than this: clocks are adjusted, and file
 * times have the resolution of a tick.
 */
#define LATER_NS 1000000000u

/* Number of ancestors that are followed. */
#define ANCESTORS_MAX 16

/* Each replaced code stays in memory, since frames refer to it. */
#define REPLACED_MAX 16

void process_table_set_jit(struct process_table *t, process_jit_fn *fn, void *ctx)
{
	t->jit_fn = fn;
	t->jit_ctx = ctx;
}

void process_table_set_jit_again(struct process_table *t, process_jit_again_fn *fn)
{
	t->jit_again = fn;
}

void process_table_jit_round(struct process_table *t)
{
	t->jit_round++;
}

void process_jit_free(struct process_jit *jit)
{
	if (jit)
		free(jit->dump);
	free(jit);
}

static struct process_jit *jit_of(struct process_table *t, uint32_t process)
{
	struct process_state *state = &t->states.items[process];

	if (!state->jit)
		state->jit = xcalloc(1, sizeof(*state->jit));
	return state->jit;
}

void process_jit_mapped(struct process_table *t, uint32_t process, const struct event *e)
{
	const struct event_mmap *m = &e->mmap;
	struct process_jit *jit;

	if (!t->jit_fn || !m->executable || !mapped_image_jitdump(m->filename))
		return;
	jit = jit_of(t, process);
	free(jit->dump);
	jit->dump = xstrdup(m->filename);
	jit->major = m->major;
	jit->minor = m->minor;
	jit->inode = m->inode;
	/* Names that were found earlier came from a worse source. */
	jit->sought = false;
}

void process_jit_ended(struct process_table *t, uint32_t process, uint64_t time_ns)
{
	const struct process_jit *jit = t->states.items[process].jit;

	if (!jit || !jit->own || !jit->code || !jit->code->written_ns)
		return;
	jit->code->disowned = time_ns && jit->code->written_ns > time_ns + LATER_NS;
}

static uint32_t add_image(struct process_table *t, uint32_t process, struct jit_code *code)
{
	const struct process *p = &t->processes.items[process];
	char *name = xasprintf("[jit] %s", process_table_name(t, p->name));
	struct image image = {.kind = IMAGE_JIT,
	                      .path = intern_add(&t->images->names, name),
	                      .base = p->serial,
	                      .pid = p->pid,
	                      .jit = code};
	uint32_t id = ID_NONE;

	free(name);
	/* The lookup is repeated: the same process, but other names. */
	for (; id == ID_NONE; image.inode++) {
		uint32_t before = (uint32_t)t->images->images.count;

		id = image_table_add(t->images, &image);
		if (id != before)
			id = ID_NONE;
	}
	return id;
}

static struct process_jit_request request_of(const struct process_table *t, uint32_t process,
                                             const struct process_jit *jit)
{
	const struct process *p = &t->processes.items[process];

	return (struct process_jit_request){.pid = p->pid,
	                                    .name = process_table_name(t, p->name),
	                                    .start_ns = p->start_ns,
	                                    .dump = jit->dump,
	                                    .major = jit->major,
	                                    .minor = jit->minor,
	                                    .inode = jit->inode};
}

static bool ask(struct process_table *t, uint32_t process, struct process_jit *jit)
{
	struct process_jit_request request = request_of(t, process, jit);
	struct jit_code *code = t->jit_fn(t->jit_ctx, &request);

	if (!code)
		return false;
	jit->own = true;
	jit->code = code;
	jit->image = add_image(t, process, code);
	return code->entries.count;
}

static void seek(struct process_table *t, uint32_t process, int depth)
{
	struct process_jit *jit = jit_of(t, process);
	uint32_t parent = t->processes.items[process].parent;

	if (jit->sought)
		return;
	jit->sought = true;
	/* Without names of its own the process runs the code of the process that forked it. */
	if (!ask(t, process, jit) && t->states.items[process].forked && parent != ID_NONE &&
	    depth < ANCESTORS_MAX) {
		const struct process_jit *theirs;

		seek(t, parent, depth + 1);
		theirs = t->states.items[parent].jit;
		if (theirs->code && theirs->code->entries.count) {
			jit->own = false;
			jit->code = theirs->code;
			jit->image = theirs->image;
		}
	}
}

/* Looks for names that the process wrote since the last round. */
static void seek_again(struct process_table *t, uint32_t process, int depth)
{
	struct process_jit *jit = jit_of(t, process);
	uint32_t parent = t->processes.items[process].parent;
	struct process_jit_request request;
	struct jit_code *code = jit->code;

	if (jit->round == t->jit_round || !code)
		return;
	jit->round = t->jit_round;
	if (!jit->own && parent != ID_NONE && depth < ANCESTORS_MAX &&
	    t->states.items[parent].jit) {
		const struct process_jit *theirs = t->states.items[parent].jit;

		seek_again(t, parent, depth + 1);
		code = theirs->code;
		jit->image = theirs->image;
	} else if (jit->own && !t->processes.items[process].end_ns &&
	           jit->replaced < REPLACED_MAX) {
		request = request_of(t, process, jit);
		code = t->jit_again(t->jit_ctx, &request, code);
	}
	if (!code || code == jit->code)
		return;
	if (jit->own) {
		jit->image = add_image(t, process, code);
		jit->replaced++;
	}
	jit->code = code;
	jit->version = 0;
}

/* Stores the reason why addresses have no name. */
static void mark_images(const struct process_table *t, const struct map_set *maps, uint32_t jit)
{
	vec_each (m, &maps->maps)
		if (m->generated)
			t->images->images.items[m->image].generated = jit;
}

void process_table_moment(struct process_table *t, uint32_t process, uint64_t time_ns)
{
	const struct map_set *maps = t->states.items[process].maps;
	struct process_jit *jit = t->states.items[process].jit;

	if (!t->jit_fn || !maps || !maps->generated)
		return;
	if (!jit || !jit->sought) {
		seek(t, process, 0);
		jit = t->states.items[process].jit;
		jit->version = 0;
		jit->round = t->jit_round;
	} else if (t->jit_again) {
		seek_again(t, process, 0);
	}
	if (!jit->code)
		return;
	jit_code_advance(jit->code, time_ns);
	if (jit->version && jit->reached == jit->code->reached &&
	    jit->maps_version == maps->version)
		return;
	if (!jit->version || jit->maps_version != maps->version)
		mark_images(t, maps, jit->image);
	jit->reached = jit->code->reached;
	jit->maps_version = maps->version;
	jit->version = ++t->version;
}
