/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ids of a window's profile as ids of the common tables of a history. */
#include "profile/profile_history_internal.h"

#include "image/jit_code.h"
#include "process/process_restore.h"

#include <string.h>

void history_ids_init(struct history_ids *ids, struct profile_history *h, const struct profile *p)
{
	size_t threads = process_table_thread_count(p->processes);

	*ids = (struct history_ids){.h = h, .from = p};
	ids->images = xmalloc((p->images.images.count + 1) * sizeof(*ids->images));
	ids->paths = xmalloc((p->paths.count + 1) * sizeof(*ids->paths));
	ids->threads = xmalloc((threads + 1) * sizeof(*ids->threads));
	memset(ids->threads, 0xff, (threads + 1) * sizeof(*ids->threads));
	memset(ids->images, 0xff, (p->images.images.count + 1) * sizeof(*ids->images));
	memset(ids->paths, 0xff, (p->paths.count + 1) * sizeof(*ids->paths));
	ids->paths[PATH_ROOT] = PATH_ROOT;
	ids->images[IMAGE_ID_UNKNOWN] = IMAGE_ID_UNKNOWN;
	ids->events = xcalloc(p->events.count + 1, sizeof(*ids->events));
}

void history_ids_done(struct history_ids *ids)
{
	free(ids->images);
	free(ids->paths);
	free(ids->threads);
	free(ids->events);
}

uint8_t history_event(struct profile *p, const struct profile_event *like)
{
	struct profile_event *e;

	for (size_t i = 0; i < p->events.count; i++)
		if (p->events.items[i].role == like->role &&
		    !strcmp(p->events.items[i].name, like->name))
			return (uint8_t)i;
	e = vec_add(&p->events);
	*e = *like;
	e->name = xstrdup(like->name);
	e->samples = e->weight = 0;
	return (uint8_t)(p->events.count - 1);
}

static void replace_text(char **to, const char *text)
{
	free(*to);
	*to = text ? xstrdup(text) : NULL;
}

/* What is known about the generated code of an image, as of now. */
static void image_code(struct history_ids *ids, uint32_t from, uint32_t to)
{
	const struct image *image = &ids->from->images.images.items[from];
	struct image_table *images = &ids->h->profile->images;
	const struct jit_code *code = image->jit;
	struct jit_code *copy;
	uint32_t generated;

	if (image->generated) {
		generated = history_image(ids, image->generated);
		images->images.items[to].generated = generated;
	}
	if (!code)
		return;
	copy = images->images.items[to].jit;
	if (!copy)
		copy = images->images.items[to].jit = jit_code_new();
	replace_text(&copy->source, code->source);
	replace_text(&copy->trouble, code->trouble);
	replace_text(&copy->remark, code->remark);
	copy->disowned = code->disowned;
	copy->machine = code->machine;
}

uint32_t history_image(struct history_ids *ids, uint32_t image)
{
	struct profile *to = ids->h->profile;
	struct image copy;
	uint32_t id;

	if (image == REGION_NONE || ids->images[image] != ID_NONE)
		return image == REGION_NONE ? REGION_NONE : ids->images[image];
	copy = ids->from->images.images.items[image];
	copy.path = intern_add(&to->images.names, image_path(&ids->from->images, image));
	copy.jit = NULL; /* the code of the window's table is copied, function by function */
	copy.kept = NULL;
	copy.generated = 0;
	if (copy.kind == IMAGE_JIT)
		copy.inode = 0; /* the number of the lookup, see process_jit.c */
	id = ids->images[image] = image_table_add(&to->images, &copy);
	image_code(ids, image, id);
	return id;
}

static struct profile_frame frame_of(struct history_ids *ids, uint32_t frame)
{
	struct profile_frame f = ids->from->frames.items[frame];
	const struct image *image = &ids->from->images.images.items[f.frame.image];
	struct jit_code *code;
	uint32_t entry;

	/* The offset of a name is its id. */
	if (image->kind == IMAGE_NAME)
		f.frame.offset =
		        intern_add(&ids->h->profile->images.names,
		                   intern_text(&ids->from->images.names, (uint32_t)f.frame.offset));
	f.frame.image = history_image(ids, f.frame.image);
	if (image->kind == IMAGE_JIT && image->jit) {
		code = ids->h->profile->images.images.items[f.frame.image].jit;
		entry = jit_code_copy(code, image->jit, (uint32_t)(f.frame.offset >> 32));
		f.frame.offset = (uint64_t)entry << 32 | (f.frame.offset & UINT32_MAX);
	}
	return f;
}

/* Parents have smaller ids than their children, so the way up ends. */
uint32_t history_path(struct history_ids *ids, uint32_t path)
{
	VEC(uint32_t) steps = {0};
	uint32_t id;

	for (; ids->paths[path] == ID_NONE; path = ids->from->paths.items[path].parent)
		vec_push(&steps, path);
	id = ids->paths[path];
	while (steps.count) {
		uint32_t step = steps.items[--steps.count];
		struct profile_frame frame = frame_of(ids, ids->from->paths.items[step].frame);

		id = ids->paths[step] = profile_path_step(ids->h->profile, id, &frame);
	}
	vec_done(&steps);
	return id;
}

static bool thread_equal(const void *ctx, uint32_t id, const void *key)
{
	const struct profile_history *h = ctx;

	return h->serials.items[id] == *(const uint64_t *)key;
}

static bool process_equal(const void *ctx, uint32_t id, const void *key)
{
	const struct profile_history *h = ctx;

	return h->process_serials.items[id] == *(const uint64_t *)key;
}

static const char *text_of(const struct process_table *t, uint32_t text)
{
	return text == ID_NONE ? NULL : process_table_name(t, text);
}

uint32_t history_process(struct history_ids *ids, uint32_t process)
{
	struct profile_history *h = ids->h;
	const struct process_table *from = ids->from->processes;
	const struct process *p = process_table_process(from, process);
	uint64_t hash = hash_u64(p->serial);
	uint32_t id = id_table_find(&h->processes, hash, process_equal, h, &p->serial);
	const char *name = process_table_name(from, p->name);

	if (id != ID_NONE) {
		process_restore_update(h->profile->processes, id, p, name);
		return id;
	}
	id = process_restore(h->profile->processes, p,
	                     &(struct process_texts){name, text_of(from, p->cgroup),
	                                             text_of(from, p->version),
	                                             text_of(from, p->labels)});
	vec_push(&h->process_serials, p->serial);
	id_table_add(&h->processes, hash, id);
	return id;
}

uint32_t history_thread(struct history_ids *ids, uint32_t thread)
{
	struct profile_history *h = ids->h;
	const struct process_table *from = ids->from->processes;
	struct thread t = *process_table_thread_at(from, thread);
	uint64_t hash = hash_u64(t.serial);
	uint32_t id = id_table_find(&h->threads, hash, thread_equal, h, &t.serial);
	const char *name = process_table_name(from, t.name);

	if (ids->threads[thread] != ID_NONE)
		return ids->threads[thread];
	t.process = history_process(ids, t.process);
	if (id != ID_NONE) {
		process_restore_thread_update(h->profile->processes, id, &t, name);
		return ids->threads[thread] = id;
	}
	id = process_restore_thread(h->profile->processes, &t, name);
	vec_push(&h->serials, t.serial);
	id_table_add(&h->threads, hash, id);
	return ids->threads[thread] = id;
}

/* A process or thread that is known may have another name since, without samples in this window. */
void history_names(struct history_ids *ids)
{
	const struct process_table *from = ids->from->processes;
	struct profile_history *h = ids->h;

	for (uint32_t i = 0; i < process_table_process_count(from); i++) {
		const struct process *p = process_table_process(from, i);

		if (p->changed && id_table_find(&h->processes, hash_u64(p->serial), process_equal,
		                                h, &p->serial) != ID_NONE)
			history_process(ids, i);
	}
	for (uint32_t i = 0; i < process_table_thread_count(from); i++) {
		const struct thread *t = process_table_thread_at(from, i);

		if (t->changed && id_table_find(&h->threads, hash_u64(t->serial), thread_equal, h,
		                                &t->serial) != ID_NONE)
			history_thread(ids, i);
	}
}
