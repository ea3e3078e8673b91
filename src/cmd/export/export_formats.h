/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * export_formats: the formats of `assay export`, with the kinds of recordings that each can
 * contain, and the writers of symbolized profiles. Every message that lists formats reads this
 * table. Constant. Uses: export, profile.
 */
#ifndef ASSAY_CMD_EXPORT_EXPORT_FORMATS_H
#define ASSAY_CMD_EXPORT_EXPORT_FORMATS_H

#include "base/error.h"
#include "base/file/spill.h"
#include "export/times/timed_samples.h"
#include "profile/symbolized_profile.h"

#include <stdbool.h>

/* The value of --to and of its check; export_format_find() knows the same words. */
#define EXPORT_FORMATS                                                                             \
	"pprof,callgrind,folded,speedscope,firefox,perf-script,chrome,otlp,csv,json,ctf,sqlite"

struct export_format {
	const char *name;
	const char *kind; /* in a message: "the folded form"; NULL: negative values are written */
	const char *file; /* the default output file; NULL: standard output */
	bool binary;      /* not for a terminal */
	bool one_value;   /* --value selects it */
	bool whole_depth; /* paths of any depth, since the size does not grow with it */
	unsigned kinds;   /* LOAD_BIT() of each kind of recording; stores are samples */
	/*
	 * Writes call paths; NULL: the format is no list of call paths. `columns`: bits of values,
	 * for one_value. `below`, which is all zeros: the values that were left out.
	 */
	int (*write)(const struct symbolized_profile *n, unsigned columns, struct spill *out,
	             struct named_below *below, struct error *err);
	/* Writes samples with their times; NULL: the format has no times of samples. */
	void (*write_timed)(struct timed_samples *t, struct spill *out);
	uint64_t (*estimate)(const struct timed_samples *t); /* approximate size in bytes */
};

/* NULL: there is no such format. */
const struct export_format *export_format_find(const char *name);

/* "pprof, callgrind and folded": the formats for at least one of these kinds. */
void export_format_words(struct buf *out, unsigned kinds);

#endif
