/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/build_id.h"

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool build_id_equal(const struct build_id *a, const struct build_id *b)
{
	return a->size == b->size && !memcmp(a->bytes, b->bytes, a->size);
}

void build_id_text(const struct build_id *id, char text[2 * BUILD_ID_MAX + 1])
{
	static const char digits[] = "0123456789abcdef";
	int size = id->size < BUILD_ID_MAX ? id->size : BUILD_ID_MAX;

	for (int i = 0; i < size; i++) {
		text[2 * i] = digits[id->bytes[i] >> 4];
		text[2 * i + 1] = digits[id->bytes[i] & 15];
	}
	text[2 * size] = '\0';
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

#define NOTES_MAX 65536 /* bytes; real note segments have some hundred bytes */

static bool notes_at(int fd, uint64_t offset, uint64_t size, struct build_id *id)
{
	bool found = false;
	void *notes;

	if (!size || size > NOTES_MAX)
		return false;
	notes = malloc(size);
	if (notes && pread(fd, notes, size, (off_t)offset) == (ssize_t)size)
		found = build_id_from_notes(notes, size, id);
	free(notes);
	return found;
}

bool build_id_from_notes_file(const char *path, struct build_id *id)
{
	char notes[8192]; /* the kernel's notes have some hundred bytes */
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got;

	if (fd < 0)
		return false;
	got = read(fd, notes, sizeof(notes));
	close(fd);
	return got > 0 && build_id_from_notes(notes, (size_t)got, id);
}

#define SEGMENTS_MAX 64 /* real files have a dozen segments */

/* 32-bit and 64-bit files have the same fields, with different sizes. */
#define NOTES_OF(bits)                                                                             \
	static bool notes_of_##bits(int fd, struct build_id *id)                                   \
	{                                                                                          \
		Elf##bits##_Phdr segments[SEGMENTS_MAX];                                           \
		Elf##bits##_Ehdr head;                                                             \
		ssize_t got, one = sizeof(*segments);                                              \
                                                                                                   \
		if (pread(fd, &head, sizeof(head), 0) != sizeof(head) || head.e_phentsize != one)  \
			return false;                                                              \
		got = pread(fd, segments, sizeof(segments), (off_t)head.e_phoff);                  \
		for (int i = 0; i < head.e_phnum && (i + 1) * one <= got; i++)                     \
			if (segments[i].p_type == PT_NOTE &&                                       \
			    notes_at(fd, segments[i].p_offset, segments[i].p_filesz, id))          \
				return true;                                                       \
		return false;                                                                      \
	}

NOTES_OF(64)
NOTES_OF(32)

bool build_id_from_file(int fd, struct build_id *id)
{
	unsigned char ident[EI_NIDENT];

	if (pread(fd, ident, sizeof(ident), 0) != sizeof(ident) || memcmp(ident, ELFMAG, SELFMAG))
		return false;
	return ident[EI_CLASS] == ELFCLASS64 ? notes_of_64(fd, id) : notes_of_32(fd, id);
}
