/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/samples/process_key.h"

#include "process/process_labels.h"

#include <stdlib.h>

bool process_key_is(enum flat_key key)
{
	return key == FLAT_SERVICE || key == FLAT_CONTAINER || key == FLAT_POD ||
	       flat_key_is_label(key);
}

static void service_text(const struct process_table *t, const struct process *p, struct buf *out)
{
	char *service = process_service(t, p);

	buf_puts(out, *service ? service : "[no service]");
	free(service);
}

void process_key_text(const struct process_table *t, const struct process *p, enum flat_key key,
                      const char *const *labels, bool brief, struct buf *out)
{
	if (key == FLAT_SERVICE)
		service_text(t, p, out);
	else if (key == FLAT_CONTAINER && !process_container(t, p, brief, out))
		buf_puts(out, "[no container]");
	else if (key == FLAT_POD && !process_pod(t, p, out))
		buf_puts(out, "[no pod]");
	else if (flat_key_is_label(key) && !process_label(t, p, labels[key - FLAT_LABEL], out))
		buf_puts(out, "[no label]");
}
