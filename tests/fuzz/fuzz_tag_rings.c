/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any bytes as a process's file of event tags, which is opened, listed, read, drained and switched.
 * The resulting packets are within the file's bounds, without holes, and have ascending times.
 */
#include "source/runtime/tag_rings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void check_packet(const struct tag_rings *rings, const struct tag_rings_packet *p)
{
	const struct assay_tags_header *h = tag_rings_header(rings);

	if (p->count > h->packet_bytes / 8 || p->holes > h->packet_bytes / 8 ||
	    p->ring >= ASSAY_TAGS_RINGS || p->header.end < p->header.begin ||
	    p->header.content_bits != (sizeof(p->header) + p->count * 8) * 8)
		abort();
	for (size_t i = 0; i < p->count; i++)
		if (!p->words[i] || (p->words[i] & ASSAY_TAGS_TAG_MASK) == ASSAY_TAG_VOID)
			abort();
}

static void read_all(struct tag_rings *rings, size_t most)
{
	struct tag_rings_packet p;
	size_t count = 0, length;

	tag_rings_text(rings, &length);
	if (length > ASSAY_TAGS_TEXT)
		abort();
	for (size_t i = 0; i < tag_rings_count(rings); i++)
		if (!tag_rings_at(rings, i))
			abort();
	while (tag_rings_next(rings, &p, NULL) > 0 && count++ <= most)
		check_packet(rings, &p);
	while (tag_rings_drain(rings, &p, NULL) > 0 && count++ <= 4 * most)
		check_packet(rings, &p);
	if (count > 4 * most)
		abort();
	tag_rings_look(rings, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static char directory[] = "/tmp/assay-fuzz-XXXXXX";
	static bool made;
	char path[64];
	tag_rings_list list = {0};
	struct tag_rings *rings;
	FILE *file;

	if (!made && !mkdtemp(directory))
		abort();
	made = true;
	snprintf(path, sizeof(path), "%s/7-7-0.tags", directory);
	file = fopen(path, "wb");
	if (!file || fwrite(bytes, 1, size, file) != size || fclose(file))
		abort();
	if (!tag_rings_list_read(&list, directory, NULL) && list.count)
		tag_rings_capture(&list.items[0], !list.items[0].capture, NULL);
	tag_rings_list_done(&list);
	if (!tag_rings_open(&rings, path, NULL)) {
		/* States are words of the file, and a packet may be returned in two parts. */
		read_all(rings, size);
		tag_rings_close(rings);
	}
	unlink(path);
	rmdir(directory);
	made = false;
	memcpy(directory + sizeof(directory) - 7, "XXXXXX", 6);
	return 0;
}
