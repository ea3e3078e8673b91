/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * symbolized_profile: call paths with the names of their functions, and values in
 * whole numbers: what is written for other tools. Made of either model (sampled
 * or counted) by view/symbolized/symbolized.h, read by the writers of formats.
 *
 * symbolized_profile_init(); images, functions, places, paths and rows are added, each
 * thing once; symbolized_profile_done(). A path is a place below another path, the
 * outermost nearest to the root. Where depth_max is set, what is deeper goes to
 * its innermost place below "[deeper]", so that no value is lost and nothing
 * grows with the square of the depth. Texts are valid UTF-8 without control
 * characters. Not safe for several threads. Uses: base.
 */
#ifndef ASSAY_PROFILE_SYMBOLIZED_PROFILE_H
#define ASSAY_PROFILE_SYMBOLIZED_PROFILE_H

#include "base/build_id.h"
#include "base/memory/hash.h"
#include "base/memory/intern.h"
#include "base/memory/vec.h"

#define NAMED_VALUES 4
#define NAMED_NONE UINT32_MAX
#define NAMED_ROOT 0 /* the empty path */
#define NAMED_DEPTH_MAX 1000

/* Texts are ids in symbolized_profile.texts, 0 is "". */
struct named_image {
	uint32_t name;
	struct build_id build_id;
	uint32_t build_text; /* a build-id that is no hexadecimal number (Go's), or 0 */
	uint64_t low, high;  /* addresses that places have in it; high < low: none */
	bool functions, files, lines, inlines; /* known for any of its places */
};

struct named_function {
	uint32_t name, file, line;
	uint32_t image; /* NAMED_NONE: of none */
};

struct named_line {
	uint32_t function, line; /* line 0: not known */
};

/* A place in the code: the function, and those inlined there, innermost first. */
struct named_place {
	uint32_t image; /* NAMED_NONE: of none */
	uint64_t address;
	uint32_t first, count; /* in symbolized_profile.lines */
};

struct named_path {
	uint32_t parent, place; /* place NAMED_NONE: the root */
	uint32_t depth;
};

/* Whose time it was. */
struct named_owner {
	uint32_t process, thread; /* texts; thread 0: of all */
	int32_t pid, tid;         /* tid 0: of all */
};

struct named_row {
	uint32_t path, owner;
	int64_t values[NAMED_VALUES];
};

/*
 * Least and most that the second value, net, was in one call of a row. Ranges of surer calls
 * take the place of others.
 */
struct named_range {
	int64_t least, most; /* most < least: not known */
	uint32_t doubt;      /* 0: sure */
};

struct named_value {
	const char *name, *unit; /* constant */
};

struct symbolized_profile {
	struct intern texts;
	VEC(struct named_image) images;
	VEC(struct named_function) functions;
	VEC(struct named_line) lines;
	VEC(struct named_place) places;
	VEC(struct named_path) paths; /* callers stand before callees */
	VEC(struct named_owner) owners;
	VEC(struct named_row) rows;     /* one a path and owner */
	VEC(struct named_range) ranges; /* by row; fewer: of those behind none is known */
	VEC(uint32_t) comments;         /* texts */
	struct named_value values[NAMED_VALUES];
	unsigned value_count, main_value;
	struct named_value period_of;
	int64_t period;               /* 0: none */
	int64_t time_ns, duration_ns; /* since 1970; 0: not known */
	uint32_t command;             /* text */
	uint32_t drop, keep;          /* texts: frames that its producer would hide, and not hide */
	uint64_t nameless;            /* places without a function: addresses stand for them */
	const char *wanted;           /* of a reader: the main value; NULL: the producer's choice */
	uint32_t outside;             /* place that stands for the root itself; NAMED_NONE */
	uint32_t deeper;              /* place "[deeper]"; NAMED_NONE: was not needed */
	uint32_t depth_max;           /* 0: none */
	struct id_table function_index, path_index, owner_index, row_index;
};

void symbolized_profile_init(struct symbolized_profile *n);
void symbolized_profile_done(struct symbolized_profile *n);

/* The id of a text, with what is no text or acts on a terminal escaped (base/text/plain_text.h). */
uint32_t named_text(struct symbolized_profile *n, const char *text);
uint32_t named_function_id(struct symbolized_profile *n, const struct named_function *f);
/* A new place of these lines; what is known of its image grows with it. */
uint32_t named_place_add(struct symbolized_profile *n, uint32_t image, uint64_t address,
                         const struct named_line *lines, size_t count);
/* A place in no image, with one function of that name. */
uint32_t named_place_word(struct symbolized_profile *n, const char *name);
uint32_t named_path_step(struct symbolized_profile *n, uint32_t parent, uint32_t place);
uint32_t named_owner_id(struct symbolized_profile *n, const struct named_owner *o);
/* The row of a path and owner, with zeros if it is new; good until the next one. */
struct named_row *named_row_of(struct symbolized_profile *n, uint32_t path, uint32_t owner);
void named_comment(struct symbolized_profile *n, const char *fmt, ...)
        __attribute__((format(printf, 2, 3)));

/* The function outside of those that were inlined at a place. */
uint32_t named_place_function(const struct symbolized_profile *n, uint32_t place);

/* a + b, at the ends of the range where it does not fit: values may come from damaged files. */
static inline int64_t named_add(int64_t a, int64_t b)
{
	int64_t sum;

	if (__builtin_add_overflow(a, b, &sum))
		return a < 0 ? INT64_MIN : INT64_MAX;
	return sum;
}

/* A call of a row, or many, as it is found: `range` takes `other` in. */
void named_range_join(struct named_range *range, const struct named_range *other);

static inline int64_t named_subtract(int64_t a, int64_t b)
{
	int64_t difference;

	if (__builtin_sub_overflow(a, b, &difference))
		return a < 0 ? INT64_MIN : INT64_MAX;
	return difference;
}

/* What a row has in these columns (bits) together. */
int64_t named_row_sum(const struct named_row *row, unsigned columns);

/* Rows whose sum is below nothing: a compensation that took off too much. */
struct named_below {
	int64_t sum;
	uint64_t rows;
};
struct named_below symbolized_profile_below(const struct symbolized_profile *n, unsigned columns);

#endif
