/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/debug/debug_lines.h"

#include "base/limit.h"
#include "image/unwind_table/cfi_cursor.h"
#include "symbol/debug/debug_bounds.h"

#include <dwarf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rows between two looks at the clock. */
enum { ROWS_BETWEEN = 1024 };

/* A directory or file. */
struct line_entry {
	const char *name; /* ends within its section; NULL: unknown */
	uint64_t directory;
	uint32_t path; /* the id; NO_PATH: not written yet */
};
#define NO_PATH UINT32_MAX

typedef VEC(struct line_entry) line_entries;

/* A row of the program, before rows are sorted. */
struct program_row {
	uint64_t address;
	uint32_t file, line; /* line 0: none */
	uint32_t order;
	bool end; /* of a sequence */
};

struct debug_lines {
	struct debug_reader *reader;
	struct debug_tables *tables;
	struct debug_section line, line_strings, strings;
	struct cfi_cursor program;
	unsigned version, offset_size, step, operations, opcode_base, line_range;
	int line_base;
	const uint8_t *lengths; /* of standard opcodes, from opcode 1 */
	const char *folder;     /* of the compilation; NULL: unknown */
	line_entries directories, files;
	VEC(struct program_row) rows;
	bool cut;
};

/* The registers of the state machine. */
struct line_state {
	uint64_t address, file, line, operation;
};

/* ---- sections ------------------------------------------------------------ */

static const char *string_at(const struct debug_section *s, uint64_t offset)
{
	return offset < s->size && memchr(s->bytes + offset, '\0', s->size - offset)
	               ? (const char *)s->bytes + offset
	               : NULL;
}

/* A string in the table itself. */
static const char *cursor_string(struct cfi_cursor *c)
{
	const uint8_t *begin = c->at,
	              *end = c->bad ? NULL : memchr(c->at, '\0', (size_t)(c->end - c->at));

	if (!end) {
		c->bad = true;
		return "";
	}
	c->at = end + 1;
	return (const char *)begin;
}

/* ---- the header ---------------------------------------------------------- */

static bool add_entry(struct debug_lines *l, line_entries *to, const char *name, uint64_t directory)
{
	if (to->count >= LIMIT_LINE_FILES) {
		l->cut = true;
		return false;
	}
	vec_push(to, (struct line_entry){name, directory, NO_PATH});
	return true;
}

static void read_old_file(struct debug_lines *l, struct cfi_cursor *c, const char *name)
{
	uint64_t directory = cfi_cursor_uleb(c);

	cfi_cursor_uleb(c); /* time */
	cfi_cursor_uleb(c); /* size */
	add_entry(l, &l->files, name, directory);
}

/* Of DWARF 2 to 4: directory 0 is the compilation's; there is no file 0. */
static void read_old_tables(struct debug_lines *l, struct cfi_cursor *c)
{
	const char *name;

	add_entry(l, &l->directories, l->folder, 0);
	while (*(name = cursor_string(c)) && add_entry(l, &l->directories, name, 0))
		;
	add_entry(l, &l->files, NULL, 0);
	while (!l->cut && *(name = cursor_string(c)))
		read_old_file(l, c, name);
}

/* Reads a value of a form; texts into *text, numbers into *number. */
static void read_form(struct debug_lines *l, struct cfi_cursor *c, uint64_t form, const char **text,
                      uint64_t *number)
{
	switch (form) {
	case DW_FORM_string:
		*text = cursor_string(c);
		break;
	case DW_FORM_line_strp:
		*text = string_at(&l->line_strings, cfi_cursor_uint(c, l->offset_size));
		break;
	case DW_FORM_strp:
		*text = string_at(&l->strings, cfi_cursor_uint(c, l->offset_size));
		break;
	case DW_FORM_strp_sup:
		cfi_cursor_part(c, l->offset_size);
		break;
	case DW_FORM_udata:
	case DW_FORM_strx:
		*number = cfi_cursor_uleb(c);
		break;
	case DW_FORM_data1:
	case DW_FORM_strx1:
		*number = cfi_cursor_uint(c, 1);
		break;
	case DW_FORM_data2:
	case DW_FORM_strx2:
		*number = cfi_cursor_uint(c, 2);
		break;
	case DW_FORM_data4:
	case DW_FORM_strx4:
		*number = cfi_cursor_uint(c, 4);
		break;
	case DW_FORM_data8:
		*number = cfi_cursor_uint(c, 8);
		break;
	case DW_FORM_data16:
		cfi_cursor_part(c, 16);
		break;
	case DW_FORM_block:
		cfi_cursor_part(c, cfi_cursor_uleb(c));
		break;
	default:
		c->bad = true;
	}
}

/* A table of DWARF 5 describes the form of its entries. */
static void read_table(struct debug_lines *l, struct cfi_cursor *c, line_entries *to)
{
	uint64_t formats[UINT8_MAX][2], count;
	unsigned fields = (unsigned)cfi_cursor_uint(c, 1);

	for (unsigned i = 0; i < fields; i++) {
		formats[i][0] = cfi_cursor_uleb(c);
		formats[i][1] = cfi_cursor_uleb(c);
	}
	count = cfi_cursor_uleb(c);
	for (uint64_t i = 0; i < count && !c->bad && debug_reader_spend(l->reader, 1); i++) {
		const char *name = NULL, *text;
		uint64_t directory = 0, number;

		for (unsigned f = 0; f < fields; f++) {
			text = NULL;
			number = 0;
			read_form(l, c, formats[f][1], &text, &number);
			if (formats[f][0] == DW_LNCT_path)
				name = text;
			else if (formats[f][0] == DW_LNCT_directory_index)
				directory = number;
		}
		if (!add_entry(l, to, name, directory))
			return;
	}
}

/* False: the table is damaged. `c` begins at the table and ends with its section. */
static bool read_header(struct debug_lines *l, struct cfi_cursor c)
{
	uint64_t size = cfi_cursor_uint(&c, 4);
	struct cfi_cursor header;

	l->offset_size = size == UINT32_MAX ? 8 : 4;
	if (l->offset_size == 8)
		size = cfi_cursor_uint(&c, 8);
	c = cfi_cursor_part(&c, size);
	l->version = (unsigned)cfi_cursor_uint(&c, 2);
	if (l->version < 2 || l->version > 5)
		return false;
	if (l->version == 5)
		cfi_cursor_part(&c, 2); /* sizes of addresses and segments */
	size = cfi_cursor_uint(&c, l->offset_size);
	header = cfi_cursor_part(&c, size);
	l->program = c;
	l->step = (unsigned)cfi_cursor_uint(&header, 1);
	l->operations = l->version >= 4 ? (unsigned)cfi_cursor_uint(&header, 1) : 1;
	cfi_cursor_uint(&header, 1); /* is_stmt */
	l->line_base = (int)cfi_cursor_int(&header, 1);
	l->line_range = (unsigned)cfi_cursor_uint(&header, 1);
	l->opcode_base = (unsigned)cfi_cursor_uint(&header, 1);
	if (c.bad || header.bad || !l->line_range || !l->opcode_base || !l->operations)
		return false;
	l->lengths = cfi_cursor_part(&header, l->opcode_base - 1).at;
	if (l->version < 5) {
		read_old_tables(l, &header);
	} else {
		read_table(l, &header, &l->directories);
		read_table(l, &header, &l->files);
	}
	return !header.bad;
}

struct debug_lines *debug_lines_open(struct debug_reader *r, struct debug_tables *t,
                                     Dwarf_Die *unit)
{
	Dwarf *dwarf = dwarf_cu_getdwarf(unit->cu);
	bool dwo = dwarf != r->dwarf;
	Dwarf_Attribute attribute;
	struct debug_lines *l;
	uint64_t offset = 0;

	/* The table of a .dwo is its only one. */
	if (dwarf_hasattr(unit, DW_AT_stmt_list)) {
		Dwarf_Word word;

		if (dwarf_formudata(dwarf_attr(unit, DW_AT_stmt_list, &attribute), &word))
			return NULL;
		offset = word;
	} else if (!dwo) {
		return NULL;
	}
	l = xcalloc(1, sizeof(*l));
	l->reader = r;
	l->tables = t;
	l->line = debug_section_of(dwarf, "line", dwo);
	l->line_strings = debug_section_of(dwarf, "line_str", dwo);
	l->strings = debug_section_of(dwarf, "str", dwo);
	l->folder = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
	if (offset < l->line.size &&
	    read_header(l, (struct cfi_cursor){l->line.bytes + offset, l->line.bytes + l->line.size,
	                                       false}))
		return l;
	debug_lines_close(l);
	return NULL;
}

void debug_lines_close(struct debug_lines *l)
{
	if (!l)
		return;
	vec_done(&l->directories);
	vec_done(&l->files);
	vec_done(&l->rows);
	free(l);
}

/* ---- paths --------------------------------------------------------------- */

/* 0: no such file, or a path that is longer than a path can be. */
static uint32_t write_path(struct debug_lines *l, const struct line_entry *file)
{
	const char *directory = file->directory < l->directories.count
	                                ? l->directories.items[file->directory].name
	                                : NULL;
	char path[PATH_MAX];
	int size;

	if (!file->name || !*file->name)
		return 0;
	if (file->name[0] == '/' || !directory)
		size = snprintf(path, sizeof(path), "%s", file->name);
	else
		size = snprintf(path, sizeof(path), "%s/%s", directory, file->name);
	if (size < 0 || (size_t)size >= sizeof(path)) {
		l->cut = true;
		return 0;
	}
	return intern_add(&l->tables->strings, path);
}

uint32_t debug_lines_file(struct debug_lines *l, uint64_t number)
{
	struct line_entry *file = l && number < l->files.count ? &l->files.items[number] : NULL;

	if (!file)
		return 0;
	if (file->path == NO_PATH)
		file->path = write_path(l, file);
	return file->path;
}

/* ---- rows ---------------------------------------------------------------- */

static void begin_sequence(struct line_state *s)
{
	*s = (struct line_state){.file = 1, .line = 1};
}

static void advance(const struct debug_lines *l, struct line_state *s, uint64_t operations)
{
	uint64_t all = s->operation + operations;

	s->address += l->step * (all / l->operations);
	s->operation = all % l->operations;
}

static void add_row(struct debug_lines *l, const struct line_state *s, bool end)
{
	bool good = !end && s->line && s->line <= INT_MAX && s->file <= UINT32_MAX;

	if (l->rows.count >= LIMIT_LINE_ROWS ||
	    (l->rows.count % ROWS_BETWEEN == 0 && !debug_reader_spend(l->reader, ROWS_BETWEEN))) {
		l->cut = true;
		return;
	}
	vec_push(&l->rows,
	         (struct program_row){s->address, good ? (uint32_t)s->file : 0,
	                              good ? (uint32_t)s->line : 0, (uint32_t)l->rows.count, end});
}

static void run_extended(struct debug_lines *l, struct line_state *s)
{
	struct cfi_cursor part = cfi_cursor_part(&l->program, cfi_cursor_uleb(&l->program));
	uint64_t size = (uint64_t)(part.end - part.at);
	const char *name;

	switch (cfi_cursor_uint(&part, 1)) {
	case DW_LNE_end_sequence:
		add_row(l, s, true);
		begin_sequence(s);
		break;
	case DW_LNE_set_address:
		s->operation = 0;
		s->address = size > 1 && size <= 9 ? cfi_cursor_uint(&part, (unsigned)size - 1) : 0;
		break;
	case DW_LNE_define_file:
		name = cursor_string(&part);
		if (!part.bad)
			read_old_file(l, &part, name);
		break;
	default: /* discriminators, and opcodes of vendors */
		break;
	}
}

static void run_standard(struct debug_lines *l, struct line_state *s, unsigned opcode)
{
	struct cfi_cursor *c = &l->program;

	switch (opcode) {
	case DW_LNS_copy:
		add_row(l, s, false);
		break;
	case DW_LNS_advance_pc:
		advance(l, s, cfi_cursor_uleb(c));
		break;
	case DW_LNS_advance_line:
		s->line += (uint64_t)cfi_cursor_sleb(c);
		break;
	case DW_LNS_set_file:
		s->file = cfi_cursor_uleb(c);
		break;
	case DW_LNS_const_add_pc:
		advance(l, s, (UINT8_MAX - l->opcode_base) / l->line_range);
		break;
	case DW_LNS_fixed_advance_pc:
		s->address += cfi_cursor_uint(c, 2);
		s->operation = 0;
		break;
	default:
		for (unsigned i = 0; i < l->lengths[opcode - 1]; i++)
			cfi_cursor_uleb(c);
	}
}

static void run_program(struct debug_lines *l)
{
	struct line_state s;

	begin_sequence(&s);
	while (l->program.at < l->program.end && !l->program.bad && !l->cut) {
		unsigned opcode = (unsigned)cfi_cursor_uint(&l->program, 1);

		if (opcode >= l->opcode_base) {
			opcode -= l->opcode_base;
			s.line += (uint64_t)(int64_t)(l->line_base + (int)(opcode % l->line_range));
			advance(l, &s, opcode / l->line_range);
			add_row(l, &s, false);
		} else if (opcode) {
			run_standard(l, &s, opcode);
		} else {
			run_extended(l, &s);
		}
	}
}

/* The end of a sequence is before a row at the same address, which begins another one. */
static int compare_rows(const void *pa, const void *pb)
{
	const struct program_row *a = pa, *b = pb;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	if (a->end != b->end)
		return a->end ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

static bool rows_are_sorted(const struct debug_lines *l)
{
	for (size_t i = 1; i < l->rows.count; i++)
		if (compare_rows(&l->rows.items[i - 1], &l->rows.items[i]) > 0)
			return false;
	return true;
}

bool debug_lines_rows(struct debug_lines *l)
{
	struct debug_tables *t = l->tables;
	size_t first = t->rows.count;

	run_program(l);
	if (!rows_are_sorted(l))
		qsort(l->rows.items, l->rows.count, sizeof(*l->rows.items), compare_rows);
	vec_each (from, &l->rows) {
		struct debug_row row = {.start = from->address};

		if (from->line)
			row.file = debug_lines_file(l, from->file);
		row.line = row.file ? from->line : 0;
		if (t->rows.count > first && vec_last(&t->rows)->start == row.start)
			*vec_last(&t->rows) = row;
		else if (t->rows.count < LIMIT_DEBUG_ROWS)
			vec_push(&t->rows, row);
		else
			l->cut = true;
	}
	l->rows.count = 0;
	return !l->cut;
}
