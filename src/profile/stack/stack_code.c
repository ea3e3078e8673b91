/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/stack/stack_code.h"

#include "base/clock.h"
#include "base/memory/hash.h"
#include "base/memory/xalloc.h"
#include "image/elf/vdso.h"
#include "image/jit_code.h"
#include "image/locate.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/*
 * The caches have fixed sizes: 4 mappings for each of 64 address spaces (11 KB), and the rules of
 * 8192 places (64 KB). A new entry replaces an older one.
 */
#define SPACES 64 /* a power of two */
#define RANGES 4
#define ROWS 8192 /* a power of two */
#define TABLES_MAX UINT16_MAX
/* A file that could not be opened through one process is tried through others that map it. */
#define TRIES 3

struct code_image {
	struct cfi_table *table;
	size_t bytes;    /* of the table */
	uint64_t used;   /* sequence number of the last use */
	uint16_t number; /* 1, 2, ... of the tables, 0: its rows are not cached */
	uint8_t tries;
	int32_t pid; /* process of the last attempt */
};

/* The table of a function that a process generated. */
struct code_function {
	uint32_t image, entry;
	struct cfi_table *table; /* NULL: its program described nothing */
};

/* A mapping in which all addresses have the same kind of result. */
struct code_range {
	uint64_t start, end;
	uint64_t delta;                /* offset in the file = address + delta */
	const struct cfi_table *table; /* NULL: `kind` is the result */
	uint32_t image;                /* image of the table */
	uint16_t number;               /* of the table, 0: of generated code, or not cached */
	uint8_t kind;
};

/* The last used mappings of one address space. */
struct code_space {
	uint64_t version;
	uint32_t next; /* index of the entry to replace */
	struct code_range ranges[RANGES];
};

/* The rule at a place of a table; shared by all processes that map the file. */
struct code_row {
	uint32_t offset;
	uint16_t number; /* of the table, 0: none */
	uint16_t rule;   /* index, or CFI_NO_RULE */
};

struct stack_code {
	struct process_table *processes;
	struct image_table *images;
	const struct unwind_machine *machine;
	const struct stack_walk_options *options;
	struct stack_walk_counts *counts;
	VEC(struct code_image) files; /* by image */
	VEC(struct code_function) functions;
	struct id_table function_ids;
	size_t table_bytes; /* of all */
	uint64_t uses;
	uint16_t tables; /* opened or taken over; table numbers are never reused */
	bool puts_off;
	uint32_t later, later_process; /* the image whose table must be opened, ID_NONE: none */
	struct code_space spaces[SPACES];
	struct code_row rows[ROWS];
	struct stack_code_place place; /* the last result */
};

static void forget_spaces(struct stack_code *c)
{
	for (size_t i = 0; i < SPACES; i++)
		c->spaces[i].version = UINT64_MAX;
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
	c->later = ID_NONE;
	forget_spaces(c);
	return c;
}

static size_t function_bytes(const struct code_function *f)
{
	return sizeof(*f) + (f->table ? cfi_table_bytes(f->table) : 0);
}

/* Closes the tables of generated code, which cost little to compile again. */
static void close_functions(struct stack_code *c)
{
	vec_each (function, &c->functions) {
		c->table_bytes -= function_bytes(function);
		cfi_table_free(function->table);
	}
	vec_done(&c->functions);
	id_table_done(&c->function_ids);
	forget_spaces(c);
}

void stack_code_free(struct stack_code *c)
{
	if (!c)
		return;
	close_functions(c);
	vec_each (file, &c->files)
		cfi_table_free(file->table);
	vec_done(&c->files);
	free(c);
}

static struct code_image *image_file(struct stack_code *c, uint32_t image)
{
	return vec_at(&c->files, image);
}

static uint16_t next_number(struct stack_code *c)
{
	return c->tables < TABLES_MAX ? ++c->tables : 0;
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

		if (id == ID_NONE || image_file(c, id)->table)
			continue;
		*image_file(c, id) = *file;
		image_file(c, id)->number = file->table ? next_number(c) : 0;
		c->table_bytes += file->bytes;
		file->table = NULL;
	}
	c->uses = before->uses;
}

static size_t most_table_bytes(const struct stack_code *c)
{
	return c->options->table_bytes ? c->options->table_bytes : STACK_TABLE_BYTES;
}

/* Closes the least recently used tables until `keep` and the others fit. */
static void bound_tables(struct stack_code *c, const struct code_image *keep)
{
	size_t most = most_table_bytes(c);

	if (c->table_bytes > most)
		close_functions(c);
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
		forget_spaces(c);
	}
}

/* This process's vdso, if it is the recorded one. */
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
	return locate_image(&f, &image, image_path(c->images, id), c->options->root, NULL, NULL)
	               ? NULL
	               : f;
}

/* The request of a foreign call: a file's table; its path ends the request. */
struct table_request {
	struct image image;
	bool cached;
	char path[PATH_MAX];
};

static int read_table(const void *in, size_t size, struct foreign_reply *reply)
{
	const struct table_request *r = in;
	struct cache_dir *cache = NULL;
	struct cfi_table *t = NULL;
	struct elf_file *f = NULL;
	const void *bytes;
	size_t count;
	int status = locate_image(&f, &r->image, r->path, NULL, NULL, NULL);

	if (!status && r->cached)
		cache_dir_open(&cache, NULL);
	if (!status)
		status = cfi_table_open(&t, f, cache, NULL);
	if (!status) {
		bytes = cfi_table_image(t, &count);
		status = foreign_reply_map(reply, bytes, count);
	}
	cfi_table_free(t);
	cache_dir_close(cache);
	elf_file_close(f);
	return status;
}

/* The table's name in the cache; empty: it is not there. */
struct table_name {
	enum elf_machine machine;
	struct build_id build_id;
	char name[CFI_NAME_SIZE];
};

static int name_table(const void *in, size_t size, struct foreign_reply *reply)
{
	const struct table_request *r = in;
	struct table_name answer = {0};
	struct cache_dir *cache = NULL;
	struct elf_file *f = NULL;
	int status = locate_image(&f, &r->image, r->path, NULL, NULL, NULL);

	if (status)
		return status;
	answer.machine = elf_file_machine(f);
	answer.build_id = *elf_file_build_id(f);
	if (cache_dir_open(&cache, NULL) || cfi_table_name(f, cache, answer.name))
		answer.name[0] = '\0';
	foreign_reply_add(reply, &answer, sizeof(answer));
	cache_dir_close(cache);
	elf_file_close(f);
	return 0;
}

/* Maps a table from the cache: the cache belongs to this user, and the memory is shared. */
static int take_cached(struct stack_code *c, struct cfi_table **table, uint32_t user,
                       const struct table_request *r, size_t size)
{
	struct table_name answer;
	struct buf out = {0};
	int status = foreign_call(c->options->foreign, name_table, user, FOREIGN_MS, r, size, &out);

	if (!status && out.size == sizeof(answer)) {
		memcpy(&answer, out.data, sizeof(answer));
		if (answer.name[0])
			*table = cfi_table_by_name(c->options->cache, answer.name, answer.machine,
			                           &answer.build_id);
	}
	buf_done(&out);
	return status;
}

static int ask_table(struct stack_code *c, struct cfi_table **table, uint32_t id, int32_t pid)
{
	struct foreign *foreign = c->options->foreign;
	struct table_request r = {.image = c->images->images.items[id],
	                          .cached = c->options->cache != NULL};
	const char *path = image_path(c->images, id);
	size_t length = strlen(path), size;
	uint32_t user = foreign_user(foreign, pid);
	void *bytes;
	int status = 0;

	r.image.pid = pid;
	if (length >= sizeof(r.path))
		return -ENAMETOOLONG;
	memcpy(r.path, path, length + 1);
	size = offsetof(struct table_request, path) + length + 1;
	if (r.cached)
		status = take_cached(c, table, user, &r, size);
	if (status || *table)
		return status;
	status =
	        foreign_call_mapped(foreign, read_table, user, FOREIGN_MS, &r, size, &bytes, &size);
	if (!status)
		*table = cfi_table_from_bytes(bytes, size, foreign_unmap);
	return status;
}

static int read_here(struct stack_code *c, struct cfi_table **table, uint32_t id, int32_t pid)
{
	struct elf_file *f = open_image(c, id, pid);
	int status = f ? cfi_table_open(table, f, c->options->cache, NULL) : -ENOENT;

	elf_file_close(f);
	return status;
}

static void open_table(struct stack_code *c, struct code_image *file, uint32_t id, int32_t pid)
{
	uint64_t start = clock_ns(CLOCK_MONOTONIC);
	bool asks = c->options->foreign && c->images->images.items[id].kind == IMAGE_FILE;
	int status =
	        asks ? ask_table(c, &file->table, id, pid) : read_here(c, &file->table, id, pid);

	/* A file whose call was not made may be tried later. */
	file->tries += status != -ECANCELED;
	file->pid = pid;
	if (file->table) {
		c->counts->tables++;
		c->counts->table_rows += file->table->row_count;
		c->counts->cut_tables += file->table->cut;
		file->bytes = cfi_table_bytes(file->table);
		c->table_bytes += file->bytes;
		file->number = next_number(c);
		bound_tables(c, file);
	}
	c->counts->table_ns += clock_ns(CLOCK_MONOTONIC) - start;
}

/* True if the file may be opened through this process. */
static bool may_open(const struct code_image *file, int32_t pid)
{
	return !file->table && file->tries < TRIES && (!file->tries || file->pid != pid);
}

/* The file of an image; its table is opened if possible. NULL: later. */
static const struct code_image *file_of(struct stack_code *c, uint32_t image, uint32_t process)
{
	int32_t pid = process_table_process(c->processes, process)->pid;
	struct code_image *file = image_file(c, image);

	if (!may_open(file, pid))
		return file;
	if (c->puts_off) {
		c->later = image;
		c->later_process = process;
		return NULL;
	}
	open_table(c, file, image, pid);
	return file;
}

void stack_code_put_off(struct stack_code *c, bool on)
{
	c->puts_off = on;
	c->later = ID_NONE;
}

bool stack_code_later(const struct stack_code *c)
{
	return c->later != ID_NONE;
}

bool stack_code_open(struct stack_code *c)
{
	uint32_t image = c->later;
	int32_t pid;

	c->later = ID_NONE;
	if (image == ID_NONE)
		return false;
	pid = process_table_process(c->processes, c->later_process)->pid;
	open_table(c, image_file(c, image), image, pid);
	return !may_open(image_file(c, image), pid);
}

/* Sets the range for a mapping of a file without generated code. */
static void look_at_file(struct stack_code *c, uint32_t process, uint32_t image,
                         struct code_range *range)
{
	enum image_kind kind = c->images->images.items[image].kind;
	const struct code_image *file;

	range->kind = STACK_CODE_NO_RULE;
	if (kind != IMAGE_FILE && kind != IMAGE_VDSO)
		return;
	file = file_of(c, image, process);
	if (!file) {
		range->kind = STACK_CODE_LATER;
	} else if (!file->table) {
		range->kind = STACK_CODE_NO_FILE;
	} else if (file->table->machine == c->machine->machine) {
		range->table = file->table;
		range->image = image;
		range->number = file->number;
	}
}

static bool same_function(const void *ctx, uint32_t id, const void *key)
{
	const struct stack_code *c = ctx;
	const struct code_function *a = &c->functions.items[id], *b = key;

	return a->image == b->image && a->entry == b->entry;
}

static bool is_of_machine(const struct jit_code *jit, enum elf_machine machine)
{
	switch (jit->machine) {
	case JIT_UNSAID:
		return true;
	case JIT_X86_64:
		return machine == ELF_MACHINE_X86_64;
	case JIT_ARM64:
		return machine == ELF_MACHINE_ARM64;
	default:
		return false;
	}
}

static struct cfi_table *compile_function(struct stack_code *c, const struct jit_code *jit,
                                          const struct jit_entry *e)
{
	const struct jit_unwind *u = &e->unwind;

	if (!u->bytes || !is_of_machine(jit, c->machine->machine))
		return NULL;
	return cfi_table_of_code(c->machine->machine,
	                         &(struct cfi_code){.address = u->code_address,
	                                            .size = e->size,
	                                            .frame = u->bytes,
	                                            .frame_size = u->size,
	                                            .frame_address = u->address});
}

/* The table that a program wrote for a function that it generated; NULL: none. */
static const struct cfi_table *function_table(struct stack_code *c, struct code_function f)
{
	const struct jit_code *jit = c->images->images.items[f.image].jit;
	uint64_t hash = hash_u64((uint64_t)f.image << 32 | f.entry);
	uint32_t id = id_table_find(&c->function_ids, hash, same_function, c, &f);
	uint64_t start;

	if (id != ID_NONE)
		return c->functions.items[id].table;
	if (c->table_bytes > most_table_bytes(c))
		close_functions(c);
	start = clock_ns(CLOCK_MONOTONIC);
	f.table = compile_function(c, jit, &jit->entries.items[f.entry]);
	c->counts->table_ns += clock_ns(CLOCK_MONOTONIC) - start;
	c->counts->table_rows += f.table ? f.table->row_count : 0;
	c->table_bytes += function_bytes(&f);
	id_table_add(&c->function_ids, hash, (uint32_t)c->functions.count);
	vec_push(&c->functions, f);
	return f.table;
}

/* Sets the range for generated code: the function, which is there as long as this version. */
static bool look_at_function(struct stack_code *c, struct frame frame, uint64_t address,
                             struct code_range *range)
{
	struct code_function f = {.image = frame.image, .entry = (uint32_t)(frame.offset >> 32)};
	const struct jit_entry *e = &c->images->images.items[f.image].jit->entries.items[f.entry];
	uint64_t offset = (uint32_t)frame.offset;

	range->kind = STACK_CODE_NO_RULE;
	range->table = function_table(c, f);
	if (!range->table)
		return false;
	image_file(c, f.image); /* has no table of its own */
	range->image = f.image;
	range->delta = offset - address;
	range->start = address - offset;
	range->end = range->start + e->size;
	return true;
}

/* Finds the mapping of an address; returns whether the result is valid for the whole mapping. */
static bool look_up(struct stack_code *c, uint32_t process, uint64_t address,
                    struct code_range *range)
{
	const struct mapping *m = process_table_mapping(c->processes, process, address);
	struct frame frame;

	*range = (struct code_range){.kind = STACK_CODE_NONE};
	if (!m)
		return false;
	range->start = m->start;
	range->end = m->end;
	if (!m->executable)
		return true;
	frame = process_table_resolve(c->processes, process, CPU_MODE_USER, address);
	if (c->images->images.items[frame.image].kind == IMAGE_JIT)
		return look_at_function(c, frame, address, range);
	range->delta = frame.offset - address;
	look_at_file(c, process, frame.image, range);
	/* A file that could not be read may be readable through the next process that maps it. */
	return !m->generated && range->kind != STACK_CODE_NO_FILE &&
	       range->kind != STACK_CODE_LATER;
}

static const struct code_range *find_range(const struct code_space *s, uint64_t address)
{
	for (size_t i = 0; i < RANGES; i++)
		if (address - s->ranges[i].start < s->ranges[i].end - s->ranges[i].start)
			return &s->ranges[i];
	return NULL;
}

static struct code_space *space_of(struct stack_code *c, uint64_t version)
{
	struct code_space *s = &c->spaces[hash_u64(version) & (SPACES - 1)];

	if (s->version != version)
		*s = (struct code_space){.version = version};
	return s;
}

static uint16_t find_rule(struct stack_code *c, const struct code_range *range, uint64_t offset)
{
	struct code_row *row =
	        &c->rows[hash_u64(offset + ((uint64_t)range->number << 40)) & (ROWS - 1)];
	const struct cfi_rule *rule;

	if (row->offset == offset && row->number == range->number && range->number)
		return row->rule;
	rule = cfi_table_find(range->table, offset);
	*row = (struct code_row){.offset = (uint32_t)offset,
	                         .number = offset <= UINT32_MAX ? range->number : 0,
	                         .rule = rule ? (uint16_t)(rule - range->table->rule)
	                                      : CFI_NO_RULE};
	return row->rule;
}

const struct stack_code_place *stack_code_at(struct stack_code *c, uint32_t process,
                                             uint64_t version, uint64_t address)
{
	struct stack_code_place *p = &c->place;
	struct code_space *s = space_of(c, version);
	const struct code_range *range = find_range(s, address);
	struct code_range found;
	uint16_t rule;

	if (!range) {
		range = &found;
		if (look_up(c, process, address, &found))
			s->ranges[s->next++ % RANGES] = found;
	}
	p->kind = (enum stack_code_kind)range->kind;
	if (!range->table)
		return p;
	c->files.items[range->image].used = ++c->uses;
	rule = find_rule(c, range, address + range->delta);
	p->table = range->table;
	p->rule = rule == CFI_NO_RULE ? NULL : &range->table->rule[rule];
	p->kind = p->rule ? STACK_CODE_RULE : STACK_CODE_NO_RULE;
	return p;
}
