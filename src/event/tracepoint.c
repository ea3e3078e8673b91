/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "event/tracepoint.h"

#include <stdlib.h>
#include <string.h>

void tracepoint_done(struct tracepoint *t)
{
	vec_each (field, &t->fields)
		free(field->name);
	vec_done(&t->fields);
	free(t->system);
	free(t->name);
	free(t->format);
	*t = (struct tracepoint){0};
}

const struct tracepoint_field *tracepoint_field_find(const struct tracepoint *t, const char *name)
{
	vec_each (field, &t->fields)
		if (!strcmp(field->name, name))
			return field;
	return NULL;
}
