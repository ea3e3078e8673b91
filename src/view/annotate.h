/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * annotate: one function, instruction by instruction, with the samples that
 * hit each.
 *
 * annotate_new() picks the function among those that were hit; where several
 * fit, the error lists them. Every instruction of it is a line, in order of
 * address; hits that are not at an instruction's first byte get lines of their
 * own, and are counted. Every line with samples is hot, so that the samples of the
 * hot lines add up to those of the function. annotate_free(). The view must outlive it. Uses: base,
 * profile, symbol, view.
 */
#ifndef ASSAY_VIEW_ANNOTATE_H
#define ASSAY_VIEW_ANNOTATE_H

#include "view/filter.h"

struct annotate_options {
	/*
	 * A name, with or without parameters; "IMAGE:NAME"; or the address of its
	 * start, "0x1234".
	 */
	const char *function;
	bool source; /* read the source files too */
};

struct annotate_line {
	uint64_t address;
	const uint8_t *bytes; /* NULL: a hit that is no instruction's first byte */
	uint32_t size;
	char *text; /* assembly, branch targets named */
	uint64_t samples;
	const char *file;   /* of the source line, NULL: not known */
	int line;           /* 0: not known */
	const char *source; /* text of that line, NULL: not to be had */
	/* Of inlined functions that the instruction belongs to, innermost first */
	uint32_t first_inline, inlines; /* in annotate.inlines */
	bool hot; /* has samples, or is one of the few lines around one that has */
};

struct source_files;

struct annotate {
	const struct symbol *symbol;
	const char *image; /* path as recorded */
	const char *event;
	const char *code_source; /* the file that the code was read from, or "/proc/kcore" */
	uint64_t samples;        /* of the function */
	uint64_t inside;         /* of these, not at an instruction's first byte */
	uint64_t base_samples;   /* what the filters left, all functions */
	VEC(struct annotate_line) lines;
	VEC(struct symbol_inline) inlines;
	struct source_files *sources;
};

int annotate_new(struct annotate **a, struct view *v, const struct selection *selection,
                 const struct annotate_options *options, struct error *err);
void annotate_free(struct annotate *a);

#endif
