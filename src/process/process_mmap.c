/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Mappings of processes and of the kernel: converts events to images and map sets. */
#include "process/mapped_image.h"
#include "process/process_internal.h"

void process_table_build_id(struct process_table *t, const char *filename,
                            const struct build_id *id)
{
	struct named_build_id known = {intern_add(&t->images->names, filename), *id};

	vec_push(&t->build_ids, known);
}

static struct build_id build_id_of(const struct process_table *t, const struct event *e)
{
	uint32_t name;

	if (e->mmap.build_id.size || !t->build_ids.count)
		return e->mmap.build_id;
	name = intern_find(&t->images->names, mapped_image_name(e));
	vec_each (known, &t->build_ids)
		if (known->name == name)
			return known->id;
	return e->mmap.build_id;
}

void process_table_set_place(struct process_table *t, enum recording_place place,
                             uint64_t wall_offset_ns)
{
	t->recorded = true;
	t->place = place;
	t->wall_offset_ns = wall_offset_ns;
}

static struct image_owner owner_of(const struct process_table *t, uint32_t process,
                                   const struct event *e)
{
	struct image_owner owner = {.serial = t->processes.items[process].serial, .pid = e->pid};

	if (!t->recorded)
		return owner;
	owner.seen_ns = e->time_ns + t->wall_offset_ns;
	owner.unproven = t->place == RECORDING_UNPROVEN;
	if (t->place != RECORDING_HERE)
		owner.pid = 0;
	return owner;
}

/*
 * The kernel maps the executable before its interpreter and libraries, and /proc lists it first:
 * the first mapping of code is that of the main image.
 */
static bool is_main_image(const struct map_set *s, const struct mapping *m)
{
	if (!m->executable || m->generated)
		return false;
	vec_each (other, &s->maps)
		if (other->executable && other->image != m->image)
			return false;
	return true;
}

static void set_version(struct process_table *t, uint32_t process, const struct mapping *m)
{
	struct process *p = &t->processes.items[process];
	const struct image *image = &t->images->images.items[m->image];
	char text[2 * BUILD_ID_MAX + 1];

	if (p->version != ID_NONE || image->kind != IMAGE_FILE || !image->build_id.size ||
	    !is_main_image(t->states.items[process].maps, m))
		return;
	build_id_text(&image->build_id, text);
	p->version = intern_add(&t->names, text);
	p->changed = true;
}

void process_mapped(struct process_table *t, const struct event *e)
{
	struct build_id id = build_id_of(t, e);
	struct mapping m = {.start = e->mmap.addr,
	                    .end = e->mmap.addr + e->mmap.size,
	                    .pgoff = e->mmap.pgoff,
	                    .order = ++t->mapping_order,
	                    .executable = e->mmap.executable,
	                    .generated = mapped_image_generated(&e->mmap)};
	struct image_owner owner;
	struct process_state *state;
	uint32_t process;

	if (m.end < m.start)
		m.end = UINT64_MAX;
	if (e->mode == CPU_MODE_KERNEL) {
		m.image = mapped_image_kernel(t->images, e, &id);
		if (m.image == ID_NONE)
			return;
		if (t->images->images.items[m.image].kind == IMAGE_KERNEL)
			t->kernel_image = m.image;
		t->kernel = map_set_own(t->kernel, ++t->version);
		map_set_insert(t->kernel, &m);
		return;
	}
	if (e->mode != CPU_MODE_USER && e->mode != CPU_MODE_UNKNOWN)
		return;
	process = process_of_pid(t, e->pid);
	owner = owner_of(t, process, e);
	m.image = mapped_image_user(t->images, e, &id, &owner);
	state = &t->states.items[process];
	state->maps = state->maps ? map_set_own(state->maps, ++t->version)
	                          : map_set_new(++t->version, &t->mappings_held);
	map_set_insert(state->maps, &m);
	set_version(t, process, &m);
	if (t->bounded && state->maps->maps.count > PROCESS_MAPPINGS_MAX)
		t->dropped_mappings += map_set_drop(
		        state->maps, map_set_order(state->maps, PROCESS_MAPPINGS_MAX / 2));
	state->maps->generated |= m.generated;
	process_jit_mapped(t, process, e);
}
