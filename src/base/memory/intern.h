/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * intern: stores each distinct string once. Ids are dense and begin at 0; text does not move until
 * intern_done(). Id 0 is always "". A name that changes without end has an id of its own, whose
 * text is replaced in place: it is not compared with other texts, and intern_find() does not find
 * it.
 */
#ifndef ASSAY_BASE_MEMORY_INTERN_H
#define ASSAY_BASE_MEMORY_INTERN_H

#include "base/memory/hash.h"
#include "base/memory/vec.h"

struct intern {
	VEC(char *) texts;
	struct id_table table;
	size_t bytes; /* memory used, approximately */
};

void intern_init(struct intern *in);
void intern_done(struct intern *in);
uint32_t intern_add(struct intern *in, const char *text);
uint32_t intern_find(const struct intern *in, const char *text); /* or ID_NONE */

/* Ids for texts below INTERN_OWN_SIZE characters. */
#define INTERN_OWN_SIZE 16
uint32_t intern_own(struct intern *in);
void intern_change(struct intern *in, uint32_t own, const char *text);

static inline const char *intern_text(const struct intern *in, uint32_t id)
{
	return in->texts.items[id];
}

#endif
