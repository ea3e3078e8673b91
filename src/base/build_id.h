/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * build_id: the name that a linker gives to an image's contents.
 */
#ifndef ASSAY_BASE_BUILD_ID_H
#define ASSAY_BASE_BUILD_ID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BUILD_ID_MAX 20

struct build_id {
	uint8_t size; /* 0: not known */
	uint8_t bytes[BUILD_ID_MAX];
};

bool build_id_equal(const struct build_id *a, const struct build_id *b);

/* Lower-case hex into text (2 * BUILD_ID_MAX + 1 bytes); "" where not known. */
void build_id_text(const struct build_id *id, char text[2 * BUILD_ID_MAX + 1]);

/* Finds the GNU build-id note in a notes section or /sys/kernel/notes. */
bool build_id_from_notes(const void *notes, size_t size, struct build_id *id);

/* The same of a file of notes under /sys; false where it has none or cannot be read. */
bool build_id_from_notes_file(const char *path, struct build_id *id);

/* The build-id of an open ELF file, by its program headers; false where it has none. */
bool build_id_from_file(int fd, struct build_id *id);

#endif
