/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * build_id: the identifier that a linker computes from an image's contents.
 */
#ifndef ASSAY_BASE_BUILD_ID_H
#define ASSAY_BASE_BUILD_ID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BUILD_ID_MAX 20

struct build_id {
	uint8_t size; /* 0: unknown */
	uint8_t bytes[BUILD_ID_MAX];
};

bool build_id_equal(const struct build_id *a, const struct build_id *b);

/* Writes lower-case hex to `text` (2 * BUILD_ID_MAX + 1 bytes); "" if the build-id is unknown. */
void build_id_text(const struct build_id *id, char text[2 * BUILD_ID_MAX + 1]);

/* Finds the GNU build-id note in a notes section or /sys/kernel/notes. */
bool build_id_from_notes(const void *notes, size_t size, struct build_id *id);

/* Reads a file of notes under /sys; false if it has no build-id or cannot be read. */
bool build_id_from_notes_file(const char *path, struct build_id *id);

/* Finds the build-id of an open ELF file by its program headers; false if it has none. */
bool build_id_from_file(int fd, struct build_id *id);

#endif
