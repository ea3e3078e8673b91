/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Walks once over the entries of a unit, and finds its inlined calls.
 */
#include "symbol/debug/debug_lines.h"

#include <dwarf.h>
#include <limits.h>

/* Compilers do not nest this deep. Without sibling links each level costs a walk over all entries
 * below. */
#define DEPTH_MAX 256

/* Entries have about twenty attributes. A limit is needed, since libdw reads all of them to skip an
 * entry. */
#define ATTRIBUTES_MAX 256

struct debug_level {
	Dwarf_Die die;
	uint32_t node;  /* the inlined call that it is in, or ID_NONE */
	uint32_t depth; /* number of inlined calls around it */
	bool code;      /* inside a function that has code */
};

struct debug_walk {
	struct debug_reader *reader;
	struct debug_tables *tables;
	struct debug_lines *lines; /* NULL: the unit has none */
	bool typed;                /* types may contain functions with code */
	size_t count;
	struct debug_level levels[DEPTH_MAX];
};

/* The number of a file or line; 0: none. */
static uint32_t place_of(Dwarf_Die *die, unsigned name)
{
	uint64_t number;

	return debug_entry_number(die, name, &number) && number <= INT_MAX ? (uint32_t)number : 0;
}

static uint32_t call_file(struct debug_walk *w, Dwarf_Die *die)
{
	return debug_lines_file(w->lines, place_of(die, DW_AT_call_file));
}

static const char *text_of(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;

	/* Also follows origins and specifications; libdw limits their number. */
	return dwarf_formstring(dwarf_attr_integrate(die, name, &attribute));
}

/* The name of the inlined function: the linkage name if DWARF has it. */
static uint32_t name_of(struct debug_walk *w, Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	Dwarf_Die origin;
	const char *name;
	uint32_t id;

	if (!dwarf_attr(die, DW_AT_abstract_origin, &attribute) ||
	    !dwarf_formref_die(&attribute, &origin) || dwarf_tag(&origin) != DW_TAG_subprogram) {
		w->reader->missing->names++;
		return 0;
	}
	id = debug_memo_find(&w->reader->names, origin.addr);
	if (id != ID_NONE)
		return id;
	name = text_of(&origin, DW_AT_linkage_name);
	if (!name)
		name = text_of(&origin, DW_AT_MIPS_linkage_name);
	if (!name)
		name = text_of(&origin, DW_AT_name);
	if (!name)
		w->reader->missing->names++;
	return debug_memo_string(&w->reader->names, &w->tables->strings, origin.addr, name);
}

/* Adds a node and spans for an inlined call that has code; else returns its parent. */
static uint32_t add_inlined(struct debug_walk *w, struct debug_level *l)
{
	struct debug_tables *t = w->tables;
	uint32_t node = (uint32_t)t->nodes.count;
	size_t before = w->reader->spans.count;
	Dwarf_Addr base, start, end;
	ptrdiff_t next = 0;

	while ((next = dwarf_ranges(&l->die, next, &base, &start, &end)) > 0) {
		if (!debug_reader_spend(w->reader, 1))
			break;
		if (start < end)
			vec_push(&w->reader->spans,
			         (struct debug_span){start, end, l->depth + 1, node});
	}
	if (w->reader->spans.count == before)
		return l->node;
	vec_push(&t->nodes, (struct debug_node){.parent = l->node,
	                                        .name = name_of(w, &l->die),
	                                        .call_file = call_file(w, &l->die),
	                                        .call_line = place_of(&l->die, DW_AT_call_line)});
	return node;
}

static bool has_code(Dwarf_Die *die)
{
	return dwarf_hasattr(die, DW_AT_low_pc) || dwarf_hasattr(die, DW_AT_ranges);
}

/* True if the children of the entry must be walked; *below: their context. */
static bool enter(struct debug_walk *w, struct debug_level *l, struct debug_level *below)
{
	*below = (struct debug_level){.node = l->node, .depth = l->depth, .code = l->code};
	switch (dwarf_tag(&l->die)) {
	case DW_TAG_subprogram:
		below->node = ID_NONE;
		below->depth = 0;
		below->code = true;
		return has_code(&l->die);
	case DW_TAG_inlined_subroutine:
		if (!l->code)
			return false;
		below->node = add_inlined(w, l);
		below->depth += below->node != l->node;
		return true;
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
		return l->code;
	case DW_TAG_namespace:
	case DW_TAG_module:
		return !l->code;
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_enumeration_type:
		return !l->code && w->typed;
	default:
		return false;
	}
}

static void walk(struct debug_walk *w)
{
	struct debug_level below, *l;

	while (w->count && debug_reader_spend(w->reader, 1)) {
		l = &w->levels[w->count - 1];
		if (enter(w, l, &below) && !dwarf_child(&l->die, &below.die)) {
			if (w->count < DEPTH_MAX) {
				w->levels[w->count++] = below;
				continue;
			}
			w->reader->missing->units++;
		}
		while (w->count &&
		       dwarf_siblingof(&w->levels[w->count - 1].die, &w->levels[w->count - 1].die))
			w->count--;
	}
}

bool debug_entries_are_small(struct debug_reader *r, Dwarf_Die *unit)
{
	Dwarf_Abbrev *abbreviation;
	size_t length, attributes;
	Dwarf_Off at = 0;

	while ((abbreviation = dwarf_getabbrev(unit, at, &length)) &&
	       abbreviation != DWARF_END_ABBREV) {
		if (dwarf_getattrcnt(abbreviation, &attributes) || attributes > ATTRIBUTES_MAX ||
		    !debug_reader_spend(r, 1))
			return false;
		at += length;
	}
	return abbreviation != NULL;
}

void debug_walk_inlines(struct debug_reader *r, struct debug_tables *t, Dwarf_Die *unit,
                        struct debug_unit *u, struct debug_lines *lines)
{
	struct debug_walk *w = xcalloc(1, sizeof(*w));
	int language = dwarf_srclang(unit);

	w->reader = r;
	w->tables = t;
	w->count = 1;
	w->typed = language != DW_LANG_C89 && language != DW_LANG_C99 && language != DW_LANG_C11 &&
	           language != DW_LANG_C;
	w->levels[0] = (struct debug_level){.node = ID_NONE};
	r->spans.count = 0;
	w->lines = lines;
	if (!debug_entries_are_small(r, unit))
		r->missing->units++;
	else if (!dwarf_child(unit, &w->levels[0].die))
		walk(w);
	u->first_segment = (uint32_t)t->segments.count;
	debug_flatten(&r->spans, &t->segments);
	u->segments = (uint32_t)(t->segments.count - u->first_segment);
	free(w);
}
