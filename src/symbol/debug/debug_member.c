/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names the member of a variable that contains an address: finds the entries of all variables once,
 * and walks down the type of one of them.
 */
#include "symbol/debug/debug_reader.h"

#include "base/memory/sorted.h"

#include <dwarf.h>
#include <inttypes.h>
#include <stdlib.h>

#define NAMESPACES_MAX 32 /* namespaces in each other */
#define LEVELS_MAX 32     /* members in each other */
#define NAMES_MAX 32      /* names and qualifiers of one type */
#define DIMENSIONS_MAX 8
#define POINTER_BYTES 8
#define PLACE_BYTES 16 /* of the location of a variable */
/* The walk over all entries of a file ends after this time; the variables found so far have
 * members.
 */
#define WALK_MAX_NS 2000000000

/* ---- variables ----------------------------------------------------------- */

/* The address of a variable with a fixed place. */
static bool address_of(Dwarf_Die *die, uint64_t *address)
{
	Dwarf_Attribute place, entry;
	Dwarf_Block block;
	Dwarf_Op *ops;
	size_t count;

	/* libdw allocates each operation of a location; DW_OP_addr is alone. */
	if (!dwarf_attr(die, DW_AT_location, &place) || dwarf_formblock(&place, &block) ||
	    block.length > PLACE_BYTES || dwarf_getlocation(&place, &ops, &count) || count != 1)
		return false;
	if (ops->atom == DW_OP_addr) {
		*address = ops->number;
		return true;
	}
	return ops->atom == DW_OP_addrx && !dwarf_getlocation_attr(&place, ops, &entry) &&
	       !dwarf_formaddr(&entry, address);
}

static void walk_variables(struct debug_reader *r, Dwarf_Die *unit, debug_variables *out)
{
	Dwarf_Die levels[NAMESPACES_MAX];
	struct debug_variable v;
	size_t count = !dwarf_child(unit, &levels[0]);

	while (count && debug_reader_spend(r, 1) && debug_reader_time_ns(r) < WALK_MAX_NS) {
		Dwarf_Die *die = &levels[count - 1];
		int tag = dwarf_tag(die);

		if (tag == DW_TAG_variable && address_of(die, &v.address)) {
			v.entry = dwarf_dieoffset(die);
			vec_push(out, v);
		}
		if (tag == DW_TAG_namespace && count < NAMESPACES_MAX &&
		    !dwarf_child(die, &levels[count])) {
			count++;
			continue;
		}
		while (count && dwarf_siblingof(&levels[count - 1], &levels[count - 1]))
			count--;
	}
}

static int compare(const void *a, const void *b)
{
	const struct debug_variable *x = a, *y = b;

	return x->address != y->address ? (x->address < y->address ? -1 : 1)
	                                : (x->entry > y->entry) - (x->entry < y->entry);
}

void debug_reader_variables(struct debug_reader *r, debug_variables *out)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;

	debug_reader_begin(r);
	while (!dwarf_get_units(r->dwarf, unit, &unit, NULL, NULL, &die, NULL)) {
		if (!debug_reader_spend(r, 1) || debug_reader_time_ns(r) >= WALK_MAX_NS)
			break;
		if (dwarf_tag(&die) == DW_TAG_compile_unit && debug_entries_are_small(r, &die))
			walk_variables(r, &die, out);
	}
	if (out->count)
		qsort(out->items, out->count, sizeof(*out->items), compare);
	debug_reader_end(r);
}

/* ---- types --------------------------------------------------------------- */

/* The type of an entry, without names and qualifiers. */
static bool type_of(Dwarf_Die *die, Dwarf_Die *type)
{
	Dwarf_Attribute attribute;
	Dwarf_Die at = *die;

	for (int i = 0; i < NAMES_MAX; i++) {
		if (!dwarf_formref_die(dwarf_attr_integrate(&at, DW_AT_type, &attribute), type))
			return false;
		switch (dwarf_tag(type)) {
		case DW_TAG_typedef:
		case DW_TAG_const_type:
		case DW_TAG_volatile_type:
		case DW_TAG_atomic_type:
		case DW_TAG_restrict_type:
			at = *type;
			continue;
		default:
			return true;
		}
	}
	return false;
}

/* The dimensions of an array; 0: one of them is not constant, or there are too many. */
static size_t dimensions_of(Dwarf_Die *array, uint64_t lengths[DIMENSIONS_MAX])
{
	size_t count = 0;
	Dwarf_Die die;

	if (dwarf_child(array, &die))
		return 0;
	do {
		if (dwarf_tag(&die) != DW_TAG_subrange_type)
			continue;
		if (count == DIMENSIONS_MAX)
			return 0;
		if (debug_entry_number(&die, DW_AT_upper_bound, &lengths[count]))
			lengths[count]++;
		else if (!debug_entry_number(&die, DW_AT_count, &lengths[count]))
			return 0;
		if (!lengths[count] || lengths[count] > UINT32_MAX)
			return 0;
		count++;
	} while (!dwarf_siblingof(&die, &die));
	return count;
}

/* 0: not known. An element that is an array itself is left out: languages write dimensions. */
static uint64_t size_of(Dwarf_Die *type)
{
	uint64_t lengths[DIMENSIONS_MAX], size = 0;
	size_t count;
	Dwarf_Die element;

	if (debug_entry_number(type, DW_AT_byte_size, &size))
		return size;
	if (dwarf_tag(type) == DW_TAG_pointer_type)
		return POINTER_BYTES;
	if (dwarf_tag(type) != DW_TAG_array_type || !type_of(type, &element))
		return 0;
	if (!debug_entry_number(&element, DW_AT_byte_size, &size))
		size = dwarf_tag(&element) == DW_TAG_pointer_type ? POINTER_BYTES : 0;
	count = dimensions_of(type, lengths);
	for (size_t i = 0; i < count; i++)
		if (__builtin_mul_overflow(size, lengths[i], &size))
			return 0;
	return count ? size : 0;
}

/* Appends the indexes of the element at *offset, which becomes the offset in it. */
static bool enter_array(Dwarf_Die *type, uint64_t *offset, struct buf *out)
{
	uint64_t lengths[DIMENSIONS_MAX], step = size_of(type);
	size_t count = dimensions_of(type, lengths);
	Dwarf_Die array = *type;

	if (!count || *offset >= step || !type_of(&array, type))
		return false;
	for (size_t i = 0; i < count; i++) {
		step /= lengths[i];
		if (!step)
			return false;
		buf_addf(out, "[%" PRIu64 "]", *offset / step);
		*offset %= step;
	}
	return true;
}

/* The member, or base class, that contains the offset; true: found, and *at is its offset. */
static bool member_at(struct debug_reader *r, Dwarf_Die *type, uint64_t offset, Dwarf_Die *member,
                      Dwarf_Die *inside, uint64_t *at)
{
	if (dwarf_child(type, member))
		return false;
	do {
		int tag = dwarf_tag(member);

		if (!debug_reader_spend(r, 1))
			return false;
		if (tag != DW_TAG_member && tag != DW_TAG_inheritance)
			continue;
		*at = 0;
		if (dwarf_hasattr(member, DW_AT_data_member_location) &&
		    !debug_entry_number(member, DW_AT_data_member_location, at))
			continue;
		/* Static members have a place of their own. */
		if (dwarf_hasattr(member, DW_AT_external) || !type_of(member, inside))
			continue;
		if (offset >= *at && offset - *at < size_of(inside))
			return true;
	} while (!dwarf_siblingof(member, member));
	return false;
}

/* Names that begin with _ belong to libraries: what contains them is the object. */
static bool enter_member(struct debug_reader *r, Dwarf_Die *type, uint64_t *offset, bool *unnamed,
                         struct buf *out)
{
	Dwarf_Die member, inside;
	const char *name;
	uint64_t at;

	if (!member_at(r, type, *offset, &member, &inside, &at))
		return false;
	name = dwarf_diename(&member);
	if (name && *name == '_')
		return false;
	*unnamed = !name || dwarf_tag(&member) != DW_TAG_member;
	if (!*unnamed)
		buf_addf(out, ".%s", name);
	*offset -= at;
	*type = inside;
	return true;
}

void debug_reader_member(struct debug_reader *r, uint64_t entry, uint64_t object, uint64_t *offset,
                         struct buf *out)
{
	bool unnamed = false, enters;
	Dwarf_Die die, type;

	debug_reader_begin(r);
	enters = dwarf_offdie(r->dwarf, entry, &die) && type_of(&die, &type);
	for (int i = 0; enters && i < LEVELS_MAX && (unnamed || size_of(&type) > object); i++)
		switch (dwarf_tag(&type)) {
		case DW_TAG_array_type:
			unnamed = false;
			enters = enter_array(&type, offset, out);
			break;
		case DW_TAG_structure_type:
		case DW_TAG_class_type:
		case DW_TAG_union_type:
			enters = enter_member(r, &type, offset, &unnamed, out);
			break;
		default:
			enters = false;
		}
	debug_reader_end(r);
}
