/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sample_fields: the values of chosen fields of tracepoints, as texts.
 *
 * A combination has one text for each chosen field; samples with equal texts have the same
 * combination, which is the `region` of their row. sample_fields_want() for each field, before the
 * first sample is added. A zeroed struct has no fields; sample_fields_done(). Texts and
 * combinations are limited by the distinct values of the recording. Nothing fails. One thread.
 * Uses: base.
 */
#ifndef ASSAY_PROFILE_SAMPLE_FIELDS_H
#define ASSAY_PROFILE_SAMPLE_FIELDS_H

#include "base/memory/hash.h"
#include "base/memory/intern.h"
#include "base/memory/vec.h"

#define SAMPLE_FIELDS_MAX 4
/* A label is this and the name of a field: "field:pid". */
#define SAMPLE_FIELD_PREFIX "field:"
/* The text of a field that the sample does not have. */
#define SAMPLE_FIELD_NONE "[none]"

struct sample_fields {
	VEC(char *) labels;   /* owned */
	VEC(uint32_t) values; /* combination x fields: texts */
	struct intern texts;
	struct id_table index;
};

void sample_fields_want(struct sample_fields *f, const char *name);
void sample_fields_done(struct sample_fields *f);

/* The index of a chosen field; SIZE_MAX: it was not chosen. */
size_t sample_fields_find(const struct sample_fields *f, const char *name);
const char *sample_fields_name(const struct sample_fields *f, size_t field);

/* The combination with these texts, ids of f->texts. */
uint32_t sample_fields_add(struct sample_fields *f, const uint32_t *values);
const char *sample_fields_text(const struct sample_fields *f, uint32_t combination, size_t field);

#endif
