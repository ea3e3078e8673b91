/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Resolves an address of a process or of the kernel with the present maps. */
#include "process/mapped_image.h"
#include "process/process_internal.h"

/* The maps for an address in that mode; NULL: none. */
static struct map_set *maps_of(const struct process_table *t, uint32_t process, enum cpu_mode mode)
{
	if (mode == CPU_MODE_KERNEL)
		return t->kernel;
	return mode == CPU_MODE_USER ? t->states.items[process].maps : NULL;
}

uint64_t process_table_maps_version(const struct process_table *t, uint32_t process,
                                    enum cpu_mode mode)
{
	const struct map_set *maps = maps_of(t, process, mode);
	const struct process_jit *jit = t->states.items[process].jit;

	if (mode == CPU_MODE_USER && jit && jit->version)
		return jit->version;
	return maps ? maps->version : 0;
}

/* Resolves an address of generated code, if the code is known. */
static bool resolve_generated(const struct process_table *t, uint32_t process, uint64_t address,
                              struct frame *frame)
{
	const struct process_jit *jit = t->states.items[process].jit;
	uint64_t offset;
	uint32_t entry;

	if (!jit || !jit->code)
		return false;
	entry = jit_code_find(jit->code, address, &offset);
	if (entry == ID_NONE)
		return false;
	*frame = (struct frame){jit->image, (uint64_t)entry << 32 | offset};
	return true;
}

static struct frame resolve_mapped(const struct process_table *t, uint32_t process,
                                   const struct mapping *m, uint64_t address)
{
	const struct image *image = &t->images->images.items[m->image];
	struct frame frame;

	switch (image->kind) {
	case IMAGE_FILE:
		if (m->generated && resolve_generated(t, process, address, &frame))
			return frame;
		return (struct frame){m->image, address - m->start + m->pgoff};
	case IMAGE_VDSO:
		return (struct frame){m->image, address - m->start + m->pgoff};
	case IMAGE_MODULE:
		return (struct frame){m->image, address - image->base};
	case IMAGE_ANON:
		if (resolve_generated(t, process, address, &frame))
			return frame;
		return (struct frame){m->image, address};
	default:
		return (struct frame){m->image, address};
	}
}

struct frame process_table_resolve(struct process_table *t, uint32_t process, enum cpu_mode mode,
                                   uint64_t address)
{
	struct map_set *maps = maps_of(t, process, mode);
	const struct mapping *m;
	struct frame frame;

	/* A mapping of the kernel or of a module may contain generated code. */
	if (mode == CPU_MODE_KERNEL && process_kernel_code_find(t, address, &frame))
		return frame;
	m = maps ? map_set_find(maps, address) : NULL;
	if (m)
		return resolve_mapped(t, process, m, address);
	if (mode != CPU_MODE_KERNEL || t->kernel->maps.count)
		return (struct frame){IMAGE_ID_UNKNOWN, address};
	/* No record reported the kernel's mapping: only the mode selects the kernel. */
	if (t->kernel_image == ID_NONE)
		t->kernel_image = image_table_named(t->images, IMAGE_KERNEL, KERNEL_IMAGE_NAME);
	return (struct frame){t->kernel_image, address};
}

const struct mapping *process_table_mapping(struct process_table *t, uint32_t process,
                                            uint64_t address)
{
	struct map_set *maps = t->states.items[process].maps;

	return maps ? map_set_find(maps, address) : NULL;
}

const struct mapping *process_table_code_below(struct process_table *t, uint32_t process,
                                               uint64_t address)
{
	struct map_set *maps = t->states.items[process].maps;

	return maps ? map_set_code_below(maps, address) : NULL;
}
