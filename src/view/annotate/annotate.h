/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * annotate: one function, instruction by instruction, with the samples of each instruction.
 *
 * annotate_new() selects the function among those that have samples; if several match, it fails
 * with -EINVAL and the error lists them. If none matches, it fails with -ENOENT. `lines` has one
 * entry per instruction, by address. Samples at an address inside an instruction get a line of
 * their own and are counted in `inside`. Every line with samples is hot, so the samples of the hot
 * lines add up to the samples of the function. annotate_free() frees; the view must outlive it. One
 * thread. Uses: base, profile, symbol, view.
 */
#ifndef ASSAY_VIEW_ANNOTATE_ANNOTATE_H
#define ASSAY_VIEW_ANNOTATE_ANNOTATE_H

#include "view/filter.h"

/* Marks of lines whose samples are of the time before the instruction. */
#define ANNOTATE_INTERRUPTS_OFF "interrupts off before"
#define ANNOTATE_KERNEL_EXIT "return from the kernel before"

struct delays;

struct annotate_options {
	/* A name, with or without parameters; "IMAGE:NAME"; or the start address, "0x1234". */
	const char *function;
	const struct symbol *symbol; /* of the view, instead of a name; NULL: `function` */
	bool source;                 /* also read the source files */
	const struct delays *delays; /* delays of the same selection; NULL: not known */
};

struct annotate_line {
	uint64_t address;
	const uint8_t *bytes; /* NULL: samples at an address inside an instruction */
	uint32_t size;
	char *text; /* assembly, with names for branch targets */
	uint64_t samples;
	const char *mark; /* why the samples may belong to another instruction; NULL: they belong to
	                     this instruction */
	const char *file; /* of the source line, NULL: unknown */
	int line;         /* 0: unknown */
	const char *source; /* text of that line, NULL: not available */
	/* The inlined functions that contain the instruction, innermost first */
	uint32_t first_inline, inlines; /* in annotate.inlines */
	bool hot;                       /* has samples, or is near a line with samples */
};

struct source_files;

struct annotate {
	const struct symbol *symbol;
	const char *image; /* path as recorded */
	const char *event;
	const char *code_source; /* the file with the code, or "/proc/kcore" */
	uint64_t samples;        /* of the function */
	uint64_t marked;         /* part of these, at lines with a mark */
	uint64_t inside;         /* part of these, at addresses inside an instruction */
	uint64_t base_samples;   /* of all functions, after the filters */
	VEC(struct annotate_line) lines;
	VEC(struct symbol_inline) inlines;
	struct source_files *sources; /* NULL: no text was asked for */
	char *left_out; /* a sentence: sources and debug files that were not read; NULL: none */
};

int annotate_new(struct annotate **a, struct view *v, const struct selection *selection,
                 const struct annotate_options *options, struct error *err);
void annotate_free(struct annotate *a);

#endif
