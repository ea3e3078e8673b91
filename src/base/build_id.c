/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/build_id.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

bool build_id_equal(const struct build_id *a, const struct build_id *b)
{
	return a->size == b->size && !memcmp(a->bytes, b->bytes, a->size);
}

void build_id_text(const struct build_id *id, char text[2 * BUILD_ID_MAX + 1])
{
	text[0] = '\0';
	for (int i = 0; i < id->size; i++)
		sprintf(text + 2 * i, "%02x", id->bytes[i]);
}

bool build_id_from_notes(const void *notes, size_t size, struct build_id *id)
{
	const char *p = notes;
	Elf64_Nhdr note;
	size_t name, text;

	while (size >= sizeof(note)) {
		memcpy(&note, p, sizeof(note));
		name = ((size_t)note.n_namesz + 3) & ~(size_t)3;
		text = ((size_t)note.n_descsz + 3) & ~(size_t)3;
		if (name > size - sizeof(note) || text > size - sizeof(note) - name)
			return false;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
		    !memcmp(p + sizeof(note), "GNU", 4) && note.n_descsz > 0 &&
		    note.n_descsz <= BUILD_ID_MAX) {
			id->size = (uint8_t)note.n_descsz;
			memcpy(id->bytes, p + sizeof(note) + name, id->size);
			return true;
		}
		p += sizeof(note) + name + text;
		size -= sizeof(note) + name + text;
	}
	return false;
}
