/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ELF files with any contents, as the filter in a profiled program reads them: the build-id,
 * function names, plain names, patterns. The sources are included, because sanitizers do not check
 * the runtime's library.
 */
#include "../../runtime/linux/code/filter.c"
#include "../../runtime/linux/code/maps.c"
#include "../../runtime/linux/code/plain_name.c"
#include "../../runtime/linux/code/symbols.c"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static struct assay_calls_image mapped;
static void *memory[64];
static int memories;

void *port_memory(size_t size)
{
	return memories < 64 ? memory[memories++] = calloc(1, size) : NULL;
}

const struct assay_calls_image *images_get(int index)
{
	return &mapped;
}

struct seen {
	const uint8_t *bytes;
	size_t size, count;
	uint64_t offset[64]; /* of the first */
};

/* A name is text of the file, and its plain form is NUL-terminated. */
static void check_symbol(void *context, uint64_t offset, const char *name, size_t length)
{
	struct seen *seen = context;
	const uint8_t *at = (const uint8_t *)name;
	char plain[256];

	if (at < seen->bytes || length > seen->size - (size_t)(at - seen->bytes) ||
	    memchr(name, 0, length))
		abort();
	if (symbols_plain(name, length, plain, sizeof(plain)) &&
	    strnlen(plain, sizeof(plain)) == sizeof(plain))
		abort();
	if (seen->count < 64)
		seen->offset[seen->count] = offset;
	seen->count++;
}

static void check_symbols(const uint8_t *bytes, size_t size, struct seen *seen)
{
	struct symbols_file f = {.bytes = bytes, .size = size};
	uint8_t id[32];

	*seen = (struct seen){.bytes = bytes, .size = size};
	if (maps_note(bytes, size, id) > sizeof(id))
		abort();
	symbols_each(&f, check_symbol, seen);
	if (seen->count > size / sizeof(Elf64_Sym))
		abort();
}

/*
 * The result is the same for all functions of a file stored, and for one that is looked up by
 * itself.
 */
static void check_wanted(const struct seen *seen, const char *patterns)
{
	filter_begin(patterns);
	for (size_t i = 0; i < seen->count && i < 64; i++) {
		uint64_t address = mapped.start + seen->offset[i];
		bool wanted = filter_wants(address, 0), alone;
		struct look l = {.image = &mapped, .wanted = address};
		uint64_t match = match_image(&mapped);

		if (seen->offset[i] >> 39)
			continue; /* larger than any mapping */
		look_through(&l);
		match = l.match > match ? l.match : match;
		alone = match ? !(match & 1) : filter.only_out;
		if (filter_is_set() && wanted != alone)
			abort();
	}
	while (memories)
		free(memory[--memories]);
}

static void check_text(const uint8_t *bytes, size_t size)
{
	struct assay_calls_image image;
	char perms[5], plain[64], pattern[48] = {0}, text[48] = {0};

	maps_line((const char *)bytes, size, &image, perms);
	symbols_plain((const char *)bytes, size, plain, sizeof(plain));
	memcpy(pattern, bytes, size < 47 ? size : 47);
	memcpy(text, bytes + size / 2, size / 2 < 47 ? size / 2 : 47);
	filter_glob(pattern, text);
	filter_begin(pattern);
	filter_wants(1, -1);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct seen seen;
	struct stat st;

	check_symbols(bytes, size, &seen);
	if (fd >= 0 && write(fd, bytes, size) == (ssize_t)size && !fstat(fd, &st)) {
		mapped = (struct assay_calls_image){.start = 1 << 20, .end = 1ull << 40};
		mapped.inode = st.st_ino;
		snprintf(mapped.path, sizeof(mapped.path), "/proc/self/fd/%d", fd);
		check_wanted(&seen, "*a*,!*::*,_Z[!N]*");
		check_wanted(&seen, "!*e*");
	}
	if (fd >= 0)
		close(fd);
	check_text(bytes, size);
	return 0;
}
