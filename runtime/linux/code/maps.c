/* SPDX-License-Identifier: MIT */
/*
 * maps: see maps.h. Headers are read with process_vm_readv(). It returns an error where a load
 * would end the program with SIGBUS, since the file may be shorter now.
 */
#include "linux/code/maps.h"
#include "linux/uncancelled.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define LINE_BYTES 8192 /* a path of 4096 bytes, partly in octal, and the fields before it */
#define HEAD_BYTES 8192 /* ELF headers and first notes */

/* State of the reader, used by one thread at a time. */
static struct {
	char text[LINE_BYTES];
	uint8_t head[HEAD_BYTES];
	struct assay_calls_image base; /* the last mapping at file offset 0 */
	bool base_is_readable;
	struct assay_calls_image code; /* reported as soon as no further piece follows */
	struct assay_calls_image code_base;
	bool code_base_is_readable;
} maps;

/* A hexadecimal or decimal number and the character that must follow it. */
static bool take_number(const char **at, const char *end, unsigned base, char stop, uint64_t *value)
{
	const char *begin = *at;

	*value = 0;
	for (; *at < end; ++*at) {
		char c = **at;
		unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
		                 : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
		                                        : 99;

		if (digit >= base)
			break;
		*value = *value * base + digit;
	}
	if (*at == begin || *at == end || **at != stop)
		return false;
	++*at;
	return true;
}

/* Line feeds in names are written as "\012". Other backslashes are not escaped. */
static size_t decode(char *out, const char *at, const char *end)
{
	size_t used = 0;

	while (at < end && used < LINE_BYTES) {
		if (end - at >= 4 && !memcmp(at, "\\012", 4)) {
			out[used++] = '\n';
			at += 4;
		} else {
			out[used++] = *at++;
		}
	}
	return used;
}

static void set_path(struct assay_calls_image *image, const char *at, const char *end)
{
	static const char deleted[] = " (deleted)";
	static char path[LINE_BYTES];
	const size_t room = sizeof(image->path) - 1;
	size_t length = decode(path, at, end), cut = sizeof(deleted) - 1;

	if (length > cut && path[0] == '/' && !memcmp(path + length - cut, deleted, cut))
		length -= cut;
	if (length <= room) {
		memcpy(image->path, path, length);
		return;
	}
	memcpy(image->path, "...", 3);
	memcpy(image->path + 3, path + length - (room - 3), room - 3);
}

bool maps_line(const char *line, size_t length, struct assay_calls_image *image, char *perms)
{
	const char *at = line, *end = line + length;
	uint64_t major, minor;

	memset(image, 0, sizeof(*image));
	if (!take_number(&at, end, 16, '-', &image->start) ||
	    !take_number(&at, end, 16, ' ', &image->end) || end - at < 5 || at[4] != ' ')
		return false;
	memcpy(perms, at, 4);
	perms[4] = 0;
	at += 5;
	if (!take_number(&at, end, 16, ' ', &image->offset) ||
	    !take_number(&at, end, 16, ':', &major) || !take_number(&at, end, 16, ' ', &minor))
		return false;
	/* Lines without a path end in the inode, some with a blank. */
	if (!take_number(&at, end, 10, ' ', &image->inode) && at != end)
		return false;
	image->device = major << 32 | minor;
	while (at < end && *at == ' ')
		at++;
	set_path(image, at, end);
	return image->end > image->start;
}

static bool is_same_file(const struct assay_calls_image *a, const struct assay_calls_image *b)
{
	return a->device == b->device && a->inode == b->inode && !strcmp(a->path, b->path);
}

static void give(maps_fn *each)
{
	if (maps.code.end)
		each(&maps.code);
	memset(&maps.code, 0, sizeof(maps.code));
}

static void take_line(const char *line, size_t length, maps_fn *each)
{
	struct assay_calls_image image;
	char perms[5];

	if (!maps_line(line, length, &image, perms))
		return;
	if (!image.offset) {
		maps.base = image;
		maps.base_is_readable = perms[0] == 'r';
	}
	/* A path that was cut begins with "...". */
	if (perms[2] != 'x' ||
	    (image.path[0] != '/' && image.path[0] != '.' && strcmp(image.path, "[vdso]")))
		return;
	if (maps.code.end == image.start && is_same_file(&maps.code, &image) &&
	    image.start - maps.code.start == image.offset - maps.code.offset) {
		maps.code.end = image.end;
		return;
	}
	give(each);
	maps.code = image;
	maps.code_base = maps.base;
	maps.code_base_is_readable = maps.base_is_readable;
}

/* Handles the complete lines, and moves the rest to the front. Returns the size of the rest. */
static size_t take_lines(size_t used, bool *skipping, maps_fn *each)
{
	size_t at = 0;

	for (;;) {
		const char *end = memchr(maps.text + at, '\n', used - at);

		if (!end)
			break;
		if (!*skipping)
			take_line(maps.text + at, (size_t)(end - maps.text) - at, each);
		*skipping = false;
		at = (size_t)(end - maps.text) + 1;
	}
	/* A line is longer than the buffer: skip the rest of it. */
	if (!at && used == sizeof(maps.text)) {
		*skipping = true;
		return 0;
	}
	memmove(maps.text, maps.text + at, used - at);
	return used - at;
}

bool maps_read(maps_fn *each)
{
	int fd = uncancelled_open(AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
	bool skipping = false;
	size_t used = 0;
	ssize_t got;

	if (fd < 0)
		return false;
	memset(&maps.base, 0, sizeof(maps.base));
	memset(&maps.code, 0, sizeof(maps.code));
	for (;;) {
		got = uncancelled_read(fd, maps.text + used, sizeof(maps.text) - used);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		used = take_lines(used + (size_t)got, &skipping, each);
	}
	give(each);
	uncancelled_close(fd);
	return got == 0;
}

/* Reads bytes of this process that maps listed as readable. Returns the number of bytes. */
static size_t read_memory(uint64_t address, size_t size)
{
	struct iovec here = {.iov_base = maps.head, .iov_len = size};
	struct iovec there = {.iov_base = (void *)(uintptr_t)address, .iov_len = size};
	ssize_t got = syscall(SYS_process_vm_readv, (long)getpid(), &here, 1ul, &there, 1ul, 0ul);

	if (got >= 0)
		return (size_t)got;
	if (errno != ENOSYS && errno != EPERM)
		return 0;
	/*
	 * process_vm_readv() is not permitted. The first page is mapped, since the program was
	 * started from it.
	 */
	size = size < 4096 ? size : 4096;
	memcpy(maps.head, (const void *)(uintptr_t)address, size);
	return size;
}

void maps_build_id(struct assay_calls_image *image)
{
	const struct assay_calls_image *base = &maps.code_base;
	uint64_t size = base->end - base->start;

	if (!maps.code_base_is_readable || !is_same_file(base, image) || base->start > image->start)
		return;
	size = read_memory(base->start, size < HEAD_BYTES ? (size_t)size : HEAD_BYTES);
	image->build_id_size = maps_note(maps.head, (size_t)size, image->build_id);
}

/* Sizes in a note have 4 bytes, and name and content are padded to 4 bytes. */
static uint32_t find_id(const uint8_t *at, size_t size, uint8_t id[32])
{
	while (size >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr note;
		uint64_t name, text;

		memcpy(&note, at, sizeof(note));
		name = ((uint64_t)note.n_namesz + 3) & ~3ull;
		text = ((uint64_t)note.n_descsz + 3) & ~3ull;
		at += sizeof(note);
		size -= sizeof(note);
		if (name > size || note.n_descsz > size - name)
			return 0;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && !memcmp(at, "GNU", 4) &&
		    note.n_descsz) {
			uint32_t bytes = note.n_descsz < 32 ? note.n_descsz : 32;

			memcpy(id, at + name, bytes);
			return bytes;
		}
		if (text > size - name)
			return 0;
		at += name + text;
		size -= name + text;
	}
	return 0;
}

uint32_t maps_note(const uint8_t *bytes, size_t size, uint8_t id[32])
{
	Elf64_Ehdr head;

	if (size < sizeof(head))
		return 0;
	memcpy(&head, bytes, sizeof(head));
	if (memcmp(head.e_ident, ELFMAG, SELFMAG) || head.e_ident[EI_CLASS] != ELFCLASS64 ||
	    head.e_phentsize != sizeof(Elf64_Phdr) || head.e_phoff > size)
		return 0;
	for (size_t i = 0; i < head.e_phnum; i++) {
		size_t at = (size_t)head.e_phoff + i * sizeof(Elf64_Phdr);
		Elf64_Phdr segment;
		uint32_t found;

		if (size - at < sizeof(segment) || at > size)
			return 0;
		memcpy(&segment, bytes + at, sizeof(segment));
		if (segment.p_type != PT_NOTE || segment.p_offset > size)
			continue;
		found = find_id(bytes + segment.p_offset,
		                segment.p_filesz < size - segment.p_offset
		                        ? (size_t)segment.p_filesz
		                        : (size_t)(size - segment.p_offset),
		                id);
		if (found)
			return found;
	}
	return 0;
}
