/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * intern: each string once. Ids are dense from 0; text stays where it is until
 * intern_done(). Id 0 is always "".
 */
#ifndef ASSAY_BASE_MEMORY_INTERN_H
#define ASSAY_BASE_MEMORY_INTERN_H

#include "base/memory/hash.h"
#include "base/memory/vec.h"

struct intern {
	VEC(char *) texts;
	struct id_table table;
	size_t bytes; /* of memory, about */
};

void intern_init(struct intern *in);
void intern_done(struct intern *in);
uint32_t intern_add(struct intern *in, const char *text);
uint32_t intern_find(const struct intern *in, const char *text); /* or ID_NONE */

static inline const char *intern_text(const struct intern *in, uint32_t id)
{
	return in->texts.items[id];
}

#endif
