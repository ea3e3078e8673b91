/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * symbolized_profile: call paths with the names of their functions, and integer values, as written
 * for other tools. It is made from either model (sampled or counted) by
 * view/symbolized/symbolized.h, and read by the writers of formats.
 *
 * symbolized_profile_init(); images, functions, places, paths and rows are added, each once;
 * symbolized_profile_done(). A path is a place below another path; the outermost one is nearest to
 * the root. If depth_max is set, a deeper path goes to its innermost place below "[deeper]", so
 * that no value is lost and the size does not grow with the square of the depth. Texts are valid
 * UTF-8 without control characters. Not thread-safe. Uses: base.
 */
#ifndef ASSAY_PROFILE_SYMBOLIZED_PROFILE_H
#define ASSAY_PROFILE_SYMBOLIZED_PROFILE_H

#include "base/build_id.h"
#include "base/memory/hash.h"
#include "base/memory/intern.h"
#include "base/memory/path_tree.h"
#include "base/memory/vec.h"

#define NAMED_VALUES 4
#define NAMED_NONE UINT32_MAX
#define NAMED_ROOT 0 /* the empty path */
#define NAMED_DEPTH_MAX 1000
#define NAMED_DECIMALS 9 /* the most digits after the point of a value */

/* Texts are ids in symbolized_profile.texts, 0 is "". */
struct named_image {
	uint32_t name;
	struct build_id build_id;
	uint32_t build_text; /* a build-id that is not hexadecimal (Go's), or 0 */
	uint64_t low, high;  /* range of its places; high < low: none */
	bool functions, files, lines,
	        inlines; /* true if at least one place of the image has the information */
};

struct named_function {
	uint32_t name, file, line;
	uint32_t image; /* NAMED_NONE: no image */
};

struct named_line {
	uint32_t function, line; /* line 0: unknown */
};

/* A place in the code: the function, and the functions inlined there, innermost first. */
struct named_place {
	uint32_t image; /* NAMED_NONE: no image */
	uint64_t address;
	uint32_t first, count; /* in symbolized_profile.lines */
};

struct named_path {
	uint32_t parent, place; /* place NAMED_NONE: the root */
	uint32_t depth;
};

/* The process and thread of a row. */
struct named_owner {
	uint32_t process, thread; /* texts; thread 0: all threads */
	int32_t pid, tid;         /* tid 0: all threads */
};

struct named_row {
	uint32_t path, owner;
	int64_t values[NAMED_VALUES];
};

/*
 * The least and most of the second value, net, in one call of a row. A range of calls with more
 * certain times replaces a range of less certain calls.
 */
struct named_range {
	int64_t least, most; /* most < least: unknown */
	uint32_t doubt;      /* 0: certain */
};

/* Percentiles of the second value, net, in one call of a row. */
struct named_percentiles {
	int64_t p50, p90, p99; /* -1: unknown */
	uint64_t timed;        /* number of calls whose times were taken */
};

struct named_value {
	const char *name, *unit; /* constant */
};

/* The unit of values that count parts: "count", "1/10", "1/100", ... */
const char *named_unit_of_decimals(unsigned decimals);
/* Its decimals; 0: of any other unit. */
unsigned named_decimals(const struct named_value *v);

struct symbolized_profile {
	struct intern texts;
	VEC(struct named_image) images;
	VEC(struct named_function) functions;
	VEC(struct named_line) lines;
	VEC(struct named_place) places;
	VEC(struct named_path) paths; /* callers are before callees */
	VEC(struct named_owner) owners;
	VEC(struct named_row) rows;     /* one for each path and owner */
	VEC(struct named_range) ranges; /* by row; rows without an entry have no known range */
	VEC(struct named_percentiles) percentiles; /* likewise */
	VEC(uint32_t) comments;                    /* texts */
	struct named_value values[NAMED_VALUES];
	unsigned value_count, main_value;
	struct named_value period_of;
	int64_t period;               /* 0: none */
	int64_t time_ns, duration_ns; /* since 1970; 0: unknown */
	int64_t missing_ns;           /* time that is in no row, since events are missing */
	uint32_t command;             /* text */
	/* Texts: patterns of frames that the producer hides, and of exceptions */
	uint32_t drop, keep;
	uint64_t nameless;  /* places without a function, which are shown as addresses */
	const char *wanted; /* chosen by the user: the main value; NULL: the producer's choice */
	uint32_t outside;   /* place that represents the root itself; NAMED_NONE: not used */
	uint32_t deeper;    /* place "[deeper]"; NAMED_NONE: not used */
	uint32_t depth_max; /* 0: none */
	struct id_table function_index, owner_index;
	struct path_tree path_index, row_index; /* by place; by path and owner: row + 1 */
};

void symbolized_profile_init(struct symbolized_profile *n);
void symbolized_profile_done(struct symbolized_profile *n);

/* The id of a text; invalid UTF-8 and control characters are escaped (base/text/plain_text.h). */
uint32_t named_text(struct symbolized_profile *n, const char *text);
uint32_t named_function_id(struct symbolized_profile *n, const struct named_function *f);
/* Adds a place with these lines, and updates the flags and range of its image. */
uint32_t named_place_add(struct symbolized_profile *n, uint32_t image, uint64_t address,
                         const struct named_line *lines, size_t count);
/* A place without address, with one function of that name; below: and without image. */
uint32_t named_place_in(struct symbolized_profile *n, uint32_t image, const char *name);
uint32_t named_place_word(struct symbolized_profile *n, const char *name);
uint32_t named_path_step(struct symbolized_profile *n, uint32_t parent, uint32_t place);
uint32_t named_owner_id(struct symbolized_profile *n, const struct named_owner *o);
/* The row of a path and owner; a new row has zeros. Valid until the next call. */
struct named_row *named_row_of(struct symbolized_profile *n, uint32_t path, uint32_t owner);
void named_comment(struct symbolized_profile *n, const char *fmt, ...)
        __attribute__((format(printf, 2, 3)));

/* The outermost function at a place, into which the others were inlined. */
uint32_t named_place_function(const struct symbolized_profile *n, uint32_t place);

/* The process with the most of the main value, by its name, as a text; 0: there is none. */
uint32_t named_main_process(const struct symbolized_profile *n);
/* The file of the program with the most of the main value, by its name; NAMED_NONE: none found. */
uint32_t named_main_image(const struct symbolized_profile *n);

/* a + b, saturated: values may come from damaged files. */
static inline int64_t named_add(int64_t a, int64_t b)
{
	int64_t sum;

	if (__builtin_add_overflow(a, b, &sum))
		return a < 0 ? INT64_MIN : INT64_MAX;
	return sum;
}

/* Merges the range `other` of one or more calls into `range`. */
void named_range_join(struct named_range *range, const struct named_range *other);

static inline int64_t named_subtract(int64_t a, int64_t b)
{
	int64_t difference;

	if (__builtin_sub_overflow(a, b, &difference))
		return a < 0 ? INT64_MIN : INT64_MAX;
	return difference;
}

/* The sum of a row's values in these columns (bits). */
int64_t named_row_sum(const struct named_row *row, unsigned columns);

/* Rows with a negative sum: more cost was subtracted than they contain. */
struct named_below {
	int64_t sum;
	uint64_t rows;
};
struct named_below symbolized_profile_below(const struct symbolized_profile *n, unsigned columns);

#endif
