/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/memory/intern.h"

#include <stdio.h>
#include <string.h>

/*
 * Bytes for each text in addition to its characters: its index entry, malloc's header and its slots
 * in the table.
 */
#define TEXT_BYTES 48

static bool text_equal(const void *ctx, uint32_t id, const void *key)
{
	return !strcmp(intern_text(ctx, id), key);
}

void intern_init(struct intern *in)
{
	*in = (struct intern){0};
	intern_add(in, "");
}

void intern_done(struct intern *in)
{
	vec_each (text, &in->texts)
		free(*text);
	vec_done(&in->texts);
	id_table_done(&in->table);
}

uint32_t intern_find(const struct intern *in, const char *text)
{
	return id_table_find(&in->table, hash_bytes(text, strlen(text)), text_equal, in, text);
}

uint32_t intern_add(struct intern *in, const char *text)
{
	uint32_t id = intern_find(in, text);

	if (id != ID_NONE)
		return id;
	id = (uint32_t)in->texts.count;
	vec_push(&in->texts, xstrdup(text));
	in->bytes += strlen(text) + TEXT_BYTES;
	id_table_add(&in->table, hash_bytes(text, strlen(text)), id);
	return id;
}

uint32_t intern_own(struct intern *in)
{
	vec_push(&in->texts, xcalloc(1, INTERN_OWN_SIZE));
	in->bytes += INTERN_OWN_SIZE + TEXT_BYTES;
	return (uint32_t)in->texts.count - 1;
}

void intern_change(struct intern *in, uint32_t own, const char *text)
{
	snprintf(in->texts.items[own], INTERN_OWN_SIZE, "%s", text);
}
