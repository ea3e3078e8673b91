/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a process publishes about itself, and files of labels, with any bytes: the header, the
 * payload behind it, and the same bytes as lines. Texts of labels are UTF-8 without control
 * characters, and within the limits.
 */
#include "base/text/utf8.h"
#include "format/label_file.h"
#include "format/otlp/process_context.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void check(struct labels *l)
{
	struct buf text = {0};
	size_t found;

	if (l->items.count > LABELS_MAX)
		abort();
	vec_each (label, &l->items) {
		const unsigned char *at = (const unsigned char *)label->value;

		if (!*label->key || strlen(label->key) > LABEL_KEY_MAX || !*at ||
		    strlen(label->value) > LABEL_VALUE_MAX)
			abort();
		for (; *at; at += utf8_length(at))
			if (*at < ' ' || *at == 0x7f || !utf8_length(at))
				abort();
	}
	labels_text(l, &text);
	vec_each (label, &l->items)
		if (!labels_find(buf_text(&text), label->key, &found))
			abort();
	buf_done(&text);
	labels_done(l);
}

static void read_line(const uint8_t *bytes, size_t size)
{
	char line[256] = "";
	uint64_t address;

	memcpy(line, bytes, size < sizeof(line) - 1 ? size : sizeof(line) - 1);
	process_context_mapping(line, &address);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct process_context_header h;
	struct labels l = {0};

	if (size >= PROCESS_CONTEXT_HEADER && process_context_header(&h, bytes) &&
	    h.size > PROCESS_CONTEXT_BYTES)
		abort();
	process_context_read(&l, bytes, size);
	check(&l);
	if (size > PROCESS_CONTEXT_HEADER)
		process_context_read(&l, bytes + PROCESS_CONTEXT_HEADER,
		                     size - PROCESS_CONTEXT_HEADER);
	check(&l);
	label_file_read(&l, "k8s.pod.label.", (const char *)bytes, size);
	check(&l);
	read_line(bytes, size);
	return 0;
}
