/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/sample_fields.h"

#include "base/memory/xalloc.h"

#include <stdlib.h>
#include <string.h>

void sample_fields_want(struct sample_fields *f, const char *name)
{
	if (!f->labels.count)
		intern_init(&f->texts);
	vec_push(&f->labels, xasprintf("%s%s", SAMPLE_FIELD_PREFIX, name));
}

void sample_fields_done(struct sample_fields *f)
{
	vec_each (label, &f->labels)
		free(*label);
	if (f->labels.count)
		intern_done(&f->texts);
	vec_done(&f->labels);
	vec_done(&f->values);
	id_table_done(&f->index);
}

const char *sample_fields_name(const struct sample_fields *f, size_t field)
{
	return f->labels.items[field] + strlen(SAMPLE_FIELD_PREFIX);
}

size_t sample_fields_find(const struct sample_fields *f, const char *name)
{
	for (size_t i = 0; i < f->labels.count; i++)
		if (!strcmp(sample_fields_name(f, i), name))
			return i;
	return SIZE_MAX;
}

static bool same_values(const void *ctx, uint32_t id, const void *key)
{
	const struct sample_fields *f = ctx;
	size_t width = f->labels.count;

	return !memcmp(&f->values.items[id * width], key, width * sizeof(uint32_t));
}

uint32_t sample_fields_add(struct sample_fields *f, const uint32_t *values)
{
	size_t width = f->labels.count;
	uint64_t hash = hash_bytes(values, width * sizeof(*values));
	uint32_t id = id_table_find(&f->index, hash, same_values, f, values);

	if (id != ID_NONE)
		return id;
	id = (uint32_t)(f->values.count / width);
	for (size_t i = 0; i < width; i++)
		vec_push(&f->values, values[i]);
	id_table_add(&f->index, hash, id);
	return id;
}

const char *sample_fields_text(const struct sample_fields *f, uint32_t combination, size_t field)
{
	size_t width = f->labels.count;

	if (field >= width || combination >= f->values.count / width)
		return SAMPLE_FIELD_NONE;
	return intern_text(&f->texts, f->values.items[combination * width + field]);
}
