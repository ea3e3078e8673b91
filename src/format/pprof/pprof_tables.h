/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pprof_tables: the items to which the samples of a profile.proto refer: texts, types, mappings,
 * functions and locations, by their ids in the file. Private to format/pprof_*.c.
 *
 * pprof_tables_read() reads the profile once and stores the position of each item; texts and places
 * are added to `n` when they are requested. Invalid references are -EBADMSG. Call
 * pprof_tables_done() in any case. Uses: base, profile.
 */
#ifndef ASSAY_FORMAT_PPROF_PPROF_TABLES_H
#define ASSAY_FORMAT_PPROF_PPROF_TABLES_H

#include "base/error.h"
#include "format/pprof/pprof_wire.h"
#include "profile/symbolized_profile.h"

/* The ids of a file, in its order. Most are 1, 2, 3... */
struct pprof_ids {
	VEC(uint64_t) ids;
	struct id_table table;
};

struct pprof_string {
	uint32_t at; /* of the field, from the beginning of the profile */
	uint32_t text;
	bool known; /* `text` is valid */
};

struct pprof_type {
	uint64_t name, unit; /* strings */
};

struct pprof_mapping {
	uint64_t start, limit, offset, file, build_id;
	uint32_t image; /* in n, + 1; 0: not added yet */
};

struct pprof_function {
	uint64_t name, system_name, file, line;
};

struct pprof_location {
	uint64_t mapping, address;
	uint32_t at, size; /* of the message: its lines are read when they are requested */
	uint32_t place;    /* in n, + 1; 0: not added yet */
};

struct pprof_tables {
	struct symbolized_profile *n;
	const char *name;     /* of the file */
	const uint8_t *bytes; /* the profile */
	size_t size;
	bool packed; /* the file was packed: positions refer to the unpacked bytes */
	VEC(struct pprof_string) strings;
	VEC(struct pprof_type) types;
	VEC(struct pprof_mapping) mappings;
	VEC(struct pprof_function) functions;
	VEC(struct pprof_location) locations;
	VEC(uint64_t) comments; /* strings */
	struct pprof_ids mapping_ids, function_ids, location_ids;
	struct pprof_type period_type;
	int64_t period, time_ns, duration_ns;
	uint64_t default_type, samples;
	uint64_t drop, keep; /* strings */
};

int pprof_tables_read(struct pprof_tables *t, struct error *err);
void pprof_tables_done(struct pprof_tables *t);

/* -EBADMSG: "FILE is damaged at byte N (of its unpacked bytes): WHAT". */
int pprof_bad(const struct pprof_tables *t, const uint8_t *at, struct error *err, const char *fmt,
              ...) __attribute__((format(printf, 4, 5)));

/* The id in `n` of the file's text `string`; `at`: the place that refers to the text. */
int pprof_text(struct pprof_tables *t, uint64_t string, const uint8_t *at, uint32_t *text,
               struct error *err);

/* The place in n of a location of the file. */
int pprof_place(struct pprof_tables *t, uint64_t location, const uint8_t *at, uint32_t *place,
                struct error *err);

#endif
