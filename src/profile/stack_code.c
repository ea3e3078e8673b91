/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/stack_code.h"

#include "base/clock.h"
#include "base/xalloc.h"
#include "image/locate.h"
#include "image/vdso.h"

#include <stdlib.h>

#define PLACES 8192 /* a power of two */
/* A file that the first process did not show may be found through another that maps it. */
#define TRIES 3

struct code_image {
	struct cfi_table *table;
	size_t bytes;  /* of the table */
	uint64_t used; /* looked at last; of two the larger is later */
	uint8_t tries;
	int32_t pid; /* through whom it was looked for last */
};

struct stack_code {
	struct process_table *processes;
	struct image_table *images;
	const struct unwind_machine *machine;
	const struct stack_walk_options *options;
	struct stack_walk_counts *counts;
	VEC(struct code_image) files; /* by image */
	size_t table_bytes;           /* of all */
	uint64_t uses;
	struct stack_code_place places[PLACES];
};

static void forget_places(struct stack_code *c)
{
	for (size_t i = 0; i < PLACES; i++)
		c->places[i].version = UINT64_MAX;
}

struct stack_code *stack_code_new(struct process_table *processes, struct image_table *images,
                                  const struct unwind_machine *machine,
                                  const struct stack_walk_options *options,
                                  struct stack_walk_counts *counts)
{
	struct stack_code *c = xcalloc(1, sizeof(*c));

	c->processes = processes;
	c->images = images;
	c->machine = machine;
	c->options = options;
	c->counts = counts;
	forget_places(c);
	return c;
}

void stack_code_free(struct stack_code *c)
{
	if (!c)
		return;
	vec_each (file, &c->files)
		cfi_table_free(file->table);
	vec_done(&c->files);
	free(c);
}

static struct code_image *file_of(struct stack_code *c, uint32_t image)
{
	while (c->files.count <= image)
		vec_add(&c->files);
	return &c->files.items[image];
}

void stack_code_take_tables(struct stack_code *c, struct stack_code *before,
                            const struct image_table *images_before)
{
	for (uint32_t i = 0; i < before->files.count; i++) {
		struct code_image *file = &before->files.items[i];
		uint32_t id = file->tries
		                      ? image_table_find(c->images, &images_before->images.items[i],
		                                         image_path(images_before, i))
		                      : ID_NONE;

		if (id == ID_NONE || file_of(c, id)->table)
			continue;
		*file_of(c, id) = *file;
		c->table_bytes += file->bytes;
		file->table = NULL;
	}
	c->uses = before->uses;
}

/* Closes tables, those looked at longest ago first, until `keep` and the others fit. */
static void bound_tables(struct stack_code *c, const struct code_image *keep)
{
	size_t most = c->options->table_bytes ? c->options->table_bytes : STACK_TABLE_BYTES;

	while (c->table_bytes > most) {
		struct code_image *oldest = NULL;

		vec_each (file, &c->files)
			if (file->table && file != keep && (!oldest || file->used < oldest->used))
				oldest = file;
		if (!oldest)
			return;
		cfi_table_free(oldest->table);
		c->table_bytes -= oldest->bytes;
		*oldest = (struct code_image){0};
		c->counts->dropped_tables++;
		forget_places(c);
	}
}

/* Ours, if it is the recorded one. */
static struct elf_file *open_vdso(const struct stack_code *c, const struct image *image)
{
	struct elf_file *f;

	if (vdso_open(&f, NULL))
		return NULL;
	if (image->build_id.size ? locate_same_build_id(&image->build_id, elf_file_build_id(f))
	                         : c->options->live)
		return f;
	elf_file_close(f);
	return NULL;
}

static struct elf_file *open_image(const struct stack_code *c, uint32_t id, int32_t pid)
{
	struct image image = c->images->images.items[id];
	struct elf_file *f = NULL;

	if (image.kind == IMAGE_VDSO)
		return open_vdso(c, &image);
	if (c->options->live)
		image.pid = pid;
	return locate_image(&f, &image, image_path(c->images, id), c->options->root, NULL) ? NULL
	                                                                                   : f;
}

static void open_table(struct stack_code *c, struct code_image *file, uint32_t id, int32_t pid)
{
	uint64_t start = clock_ns(CLOCK_MONOTONIC);
	struct elf_file *f = open_image(c, id, pid);

	file->tries++;
	file->pid = pid;
	if (f && !cfi_table_open(&file->table, f, c->options->cache, NULL)) {
		c->counts->tables++;
		c->counts->table_rows += file->table->row_count;
		c->counts->cut_tables += file->table->cut;
		file->bytes = cfi_table_bytes(file->table);
		c->table_bytes += file->bytes;
		bound_tables(c, file);
	}
	elf_file_close(f);
	c->counts->table_ns += clock_ns(CLOCK_MONOTONIC) - start;
}

/* The table of a file or of the vdso; NULL where it could not be read. */
static const struct cfi_table *table_of(struct stack_code *c, uint32_t image, uint32_t process)
{
	int32_t pid = process_table_process(c->processes, process)->pid;
	struct code_image *file = file_of(c, image);

	file->used = ++c->uses;
	if (!file->table && file->tries < TRIES && (!file->tries || file->pid != pid))
		open_table(c, file, image, pid);
	return file->table;
}

static void look_up(struct stack_code *c, uint32_t process, struct stack_code_place *p)
{
	const struct mapping *m = process_table_mapping(c->processes, process, p->address);
	struct frame frame;
	enum image_kind kind;

	p->table = NULL;
	p->rule = NULL;
	p->kind = STACK_CODE_NONE;
	if (!m || !m->executable)
		return;
	p->kind = STACK_CODE_NO_RULE;
	frame = process_table_resolve(c->processes, process, CPU_MODE_USER, p->address);
	kind = c->images->images.items[frame.image].kind;
	if (kind != IMAGE_FILE && kind != IMAGE_VDSO)
		return;
	p->table = table_of(c, frame.image, process);
	if (!p->table) {
		p->kind = STACK_CODE_NO_FILE;
		return;
	}
	if (p->table->machine != c->machine->machine)
		return;
	p->rule = cfi_table_find(p->table, frame.offset);
	if (p->rule)
		p->kind = STACK_CODE_RULE;
}

const struct stack_code_place *stack_code_at(struct stack_code *c, uint32_t process,
                                             uint64_t version, uint64_t address)
{
	struct stack_code_place *p;

	p = &c->places[(address ^ (address >> 13) ^ version * 0x9e3779b1u) & (PLACES - 1)];
	if (p->address == address && p->version == version)
		return p;
	p->address = address;
	p->version = version;
	look_up(c, process, p);
	return p;
}
