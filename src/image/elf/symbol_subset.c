/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "image/elf/symbol_subset.h"

#include "base/memory/sorted.h"
#include "base/memory/vec.h"

#include <stdlib.h>
#include <string.h>

/*
 * Starts of symbols between two neighbouring addresses. between[0] has the symbols before the first
 * address, between[i] those between address i - 1 and address i.
 */
struct symbol_between {
	uint64_t first, last;
	bool any, first_label, last_label; /* label: a symbol without a size */
};

/* A symbol that covers an address. */
struct symbol_cover {
	uint64_t start, size;
};

struct symbol_subset {
	uint64_t *addresses; /* ascending */
	bool *covered;       /* by address: true if a symbol with a size covers it */
	size_t count;
	struct symbol_between *between; /* count + 1 */
	uint64_t *starts;               /* of the symbols next to uncovered addresses; ascending */
	size_t start_count;
	VEC(struct symbol_cover) covers; /* after the first pass: the longest of each start */
	uint64_t *marks; /* after the first pass: all of addresses, starts and covers; ascending */
	size_t mark_count;
	bool first_pass_done, all, needs_full_table;
};

struct symbol_subset *symbol_subset_new(const uint64_t *addresses, size_t count)
{
	struct symbol_subset *f = xcalloc(1, sizeof(*f));

	f->addresses = xcalloc(count + 1, sizeof(*f->addresses));
	f->covered = xcalloc(count + 1, sizeof(*f->covered));
	f->between = xcalloc(count + 1, sizeof(*f->between));
	f->starts = xcalloc(2 * count + 1, sizeof(*f->starts));
	f->count = count;
	for (size_t i = 0; i < count; i++)
		f->addresses[i] = addresses[i];
	sorted_u64(f->addresses, count);
	return f;
}

void symbol_subset_free(struct symbol_subset *f)
{
	if (!f)
		return;
	free(f->addresses);
	free(f->covered);
	free(f->between);
	free(f->starts);
	free(f->marks);
	vec_done(&f->covers);
	free(f);
}

/* The index of the first number that is at least `value`. */
static size_t lower_bound(const uint64_t *numbers, size_t count, uint64_t value)
{
	return sorted_count(i, count, numbers[i] < value);
}

/* True if one of the numbers is in [start, start + size). */
static bool any_in(const uint64_t *numbers, size_t count, uint64_t start, uint64_t size)
{
	size_t at = lower_bound(numbers, count, start);

	return at < count && numbers[at] - start < size;
}

bool symbol_subset_inside(const struct symbol_subset *f, uint64_t start, uint64_t size)
{
	return any_in(f->addresses, f->count, start, size);
}

static void first_pass(struct symbol_subset *f, uint64_t start, uint64_t size)
{
	size_t at = lower_bound(f->addresses, f->count, start);
	struct symbol_between *b = &f->between[at];

	for (size_t i = at; i < f->count && f->addresses[i] - start < size; i++)
		f->covered[i] = true;
	if (at < f->count && f->covered[at] && f->addresses[at] - start < size)
		vec_push(&f->covers, ((struct symbol_cover){start, size}));
	if (!b->any || start < b->first) {
		b->first = start;
		b->first_label = false;
	}
	if (!b->any || start > b->last) {
		b->last = start;
		b->last_label = false;
	}
	b->any = true;
	b->first_label |= start == b->first && !size;
	b->last_label |= start == b->last && !size;
}

/*
 * True for a shorter symbol with the same start as one that covers an address behind its end: only
 * the full table can decide which of the two is kept.
 */
static bool is_shorter(const struct symbol_subset *f, uint64_t start, uint64_t size)
{
	const struct symbol_cover *c = f->covers.items;
	size_t at = sorted_count(i, f->covers.count, c[i].start < start);

	return at < f->covers.count && c[at].start == start && size < c[at].size &&
	       any_in(f->addresses, f->count, start + size, c[at].size - size);
}

bool symbol_subset_wants(struct symbol_subset *f, uint64_t start, uint64_t size)
{
	size_t at;

	if (!f->first_pass_done) {
		first_pass(f, start, size);
		return false;
	}
	f->needs_full_table |= size && is_shorter(f, start, size);
	if (f->all || symbol_subset_inside(f, start, size))
		return true;
	at = lower_bound(f->starts, f->start_count, start);
	return at < f->start_count && f->starts[at] == start;
}

/*
 * In the first pass symbols without an address inside are needed only as the nearest ones. Before
 * the first address that is the last symbol, and behind the last address the first one.
 */
static bool may_be_nearest(const struct symbol_subset *f, size_t at, uint64_t start, uint64_t size)
{
	const struct symbol_between *b = &f->between[at];

	if (!b->any)
		return true;
	return (at > 0 && start <= b->first) ||
	       (at < f->count && (start >= b->last || b->last - start < size));
}

/* Called for each symbol of a file, so each pass searches one list. */
bool symbol_subset_may_want(const struct symbol_subset *f, uint64_t start, uint64_t size)
{
	size_t at;

	if (!size)
		size = 1;
	if (f->first_pass_done)
		return f->all || any_in(f->marks, f->mark_count, start, size);
	at = lower_bound(f->addresses, f->count, start);
	return (at < f->count && f->addresses[at] - start < size) ||
	       may_be_nearest(f, at, start, size);
}

void symbol_subset_take_all(struct symbol_subset *f)
{
	f->all = true;
}

/* Requests the symbols before and after an address that no symbol covers. */
static void need_neighbours(struct symbol_subset *f, size_t address)
{
	size_t before = address + 1, behind = address + 1;

	while (before > 0 && !f->between[before - 1].any)
		before--;
	while (behind <= f->count && !f->between[behind].any)
		behind++;
	if (before > 0) {
		f->starts[f->start_count++] = f->between[before - 1].last;
		f->all |= f->between[before - 1].last_label;
	}
	if (behind <= f->count) {
		f->starts[f->start_count++] = f->between[behind].first;
		f->all |= f->between[behind].first_label;
	}
}

static void add_marks(struct symbol_subset *f, const uint64_t *numbers, size_t count)
{
	if (count)
		memcpy(f->marks + f->mark_count, numbers, count * sizeof(*numbers));
	f->mark_count += count;
}

static int by_start(const void *a, const void *b)
{
	const struct symbol_cover *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static void keep_longest_covers(struct symbol_subset *f)
{
	struct symbol_cover *c = f->covers.items;
	size_t kept = 0;

	if (f->covers.count)
		qsort(c, f->covers.count, sizeof(*c), by_start);
	for (size_t i = 0; i < f->covers.count; i++)
		if (!kept || c[kept - 1].start != c[i].start)
			c[kept++] = c[i];
		else if (c[kept - 1].size < c[i].size)
			c[kept - 1].size = c[i].size;
	f->covers.count = kept;
}

void symbol_subset_first_pass_done(struct symbol_subset *f)
{
	for (size_t i = 0; i < f->count; i++)
		if (!f->covered[i])
			need_neighbours(f, i);
	sorted_u64(f->starts, f->start_count);
	keep_longest_covers(f);
	f->marks = xcalloc(f->count + f->start_count + f->covers.count + 1, sizeof(*f->marks));
	add_marks(f, f->addresses, f->count);
	add_marks(f, f->starts, f->start_count);
	vec_each (cover, &f->covers)
		add_marks(f, &cover->start, 1);
	sorted_u64(f->marks, f->mark_count);
	f->first_pass_done = true;
}

void symbol_subset_doubt(struct symbol_subset *f)
{
	f->needs_full_table = true;
}

bool symbol_subset_needs_full_table(const struct symbol_subset *f)
{
	return f->needs_full_table;
}
