/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * page_model: the tree, the rows and the names of a page, made from a symbolized profile.
 *
 * page_model_init() makes everything from the selected rows; names that no row needs are left out.
 * page_model_sort() changes the order of the rows. page_model_done(). Nothing fails. One thread.
 * Uses: base, profile, view.
 */
#ifndef ASSAY_OUTPUT_HTML_PAGE_MODEL_H
#define ASSAY_OUTPUT_HTML_PAGE_MODEL_H

#include "output/html/page.h"

enum page_function_kind { PAGE_OTHER, PAGE_USER, PAGE_KERNEL };

struct page_function {
	uint32_t name, image, file, line, group; /* texts, except image and line */
	uint8_t kind;                            /* enum page_function_kind */
};

struct page_node {
	uint32_t parent, function;
	bool inlined;
};

struct page_owner {
	uint32_t process, thread; /* texts */
	int32_t pid, tid;
};

struct page_row {
	uint32_t node, owner;
	double values[NAMED_VALUES];
	double p50, p90, p99, most; /* ns of one call; NAN: unknown */
	bool timed;                 /* percentiles were known for a part of it */
};

struct page_model {
	const struct page_stacks *source;
	struct intern texts;  /* 0: "" */
	VEC(uint32_t) images; /* texts */
	VEC(struct page_function) functions;
	VEC(struct page_node) nodes; /* [0] is the root; callers are before callees */
	VEC(struct page_owner) owners;
	VEC(struct page_row) rows;
	bool calls; /* a row has the duration of a call */
	/* By id in the symbolized profile: id here + 1; 0: not needed. */
	uint32_t *image_of, *function_of, *node_of, *owner_of, *row_of;
	uint32_t *first_of; /* by image there: the first image of that name */
	bool *several;      /* by such a first image: others have its name */
	struct path_tree image_index, function_index, node_index, row_index;
};

void page_model_init(struct page_model *m, const struct page_stacks *s);
/* `place`: for each row its new place. */
void page_model_sort(struct page_model *m, const uint32_t *place);
void page_model_done(struct page_model *m);

#endif
