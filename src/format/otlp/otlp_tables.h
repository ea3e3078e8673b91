/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * otlp_tables: the dictionary of OTLP profiles: positions of its entries, which are read when a
 * sample needs them. Private to format/otlp.
 *
 * otlp_tables_read() with the dictionary's bytes; then otlp_text(), otlp_path(), otlp_attribute();
 * otlp_tables_done() in any case. A reference to an entry that does not exist is -EBADMSG. Uses:
 * base, profile.
 */
#ifndef ASSAY_FORMAT_OTLP_OTLP_TABLES_H
#define ASSAY_FORMAT_OTLP_OTLP_TABLES_H

#include "base/error.h"
#include "format/otlp/otlp_wire.h"
#include "format/pprof/pprof_wire.h"
#include "profile/symbolized_profile.h"

struct otlp_entry {
	const uint8_t *at;
	size_t size;
	uint32_t known; /* text, place, path or image in `n`, + 1; 0: not read yet */
};

typedef VEC(struct otlp_entry) otlp_table;

/* What an attribute says about the owner of a sample. */
enum otlp_meaning { OTLP_NONE, OTLP_PROCESS, OTLP_PID, OTLP_THREAD, OTLP_TID };

struct otlp_tables {
	struct symbolized_profile *n;
	const char *name; /* of the file */
	const uint8_t *bytes;
	size_t frames;
	otlp_table tables[OTLP_STACKS + 1]; /* by field of the dictionary */
};

int otlp_tables_read(struct otlp_tables *t, struct pprof_cursor dictionary, struct error *err);
void otlp_tables_done(struct otlp_tables *t);

/* -EBADMSG: "FILE is damaged at byte N: WHAT". */
int otlp_bad(const struct otlp_tables *t, const uint8_t *at, struct error *err, const char *fmt,
             ...) __attribute__((format(printf, 4, 5)));
int otlp_bad_field(const struct otlp_tables *t, const struct pprof_field *f, struct error *err);

/* `at`: the reference, for the message. */
int otlp_text(struct otlp_tables *t, uint64_t string, const uint8_t *at, uint32_t *text,
              struct error *err);
/* The path of a stack. */
int otlp_path(struct otlp_tables *t, uint64_t stack, const uint8_t *at, uint32_t *path,
              struct error *err);
/* Sets a part of the owner if the attribute has a meaning. */
int otlp_attribute(struct otlp_tables *t, uint64_t attribute, const uint8_t *at,
                   struct named_owner *owner, struct error *err);
/* The same for a KeyValueAndUnit message, or a KeyValue of a resource. */
int otlp_key_value(struct otlp_tables *t, struct pprof_cursor message, struct named_owner *owner,
                   struct error *err);

#endif
