/* SPDX-License-Identifier: MIT */
/*
 * symbols: functions' names in an ELF file, and C++ names made plain, for the
 * filter. What a file says is held against its size; one that is not understood
 * has no symbols. No malloc, no stdio. Signal safe. Uses: include/assay,
 * linux/maps.h.
 */
#ifndef ASSAY_RUNTIME_LINUX_SYMBOLS_H
#define ASSAY_RUNTIME_LINUX_SYMBOLS_H

#include "assay/wire.h"

#include <stdbool.h>
#include <stddef.h>

/* A file's bytes: mapped, or (for tests) anywhere. */
struct symbols_file {
	const uint8_t *bytes;
	size_t size;
};

/* A function: where it is in the file, its name of `length` bytes, not ended by 0. */
typedef void symbols_fn(void *context, uint64_t offset, const char *name, size_t length);

/* Maps the file of an image; false: it cannot be read, or is another by now. */
bool symbols_open(struct symbols_file *f, const struct assay_calls_image *image);
void symbols_close(struct symbols_file *f);
/* Each function of .symtab, or of .dynsym where there is no .symtab. */
void symbols_each(const struct symbols_file *f, symbols_fn *each, void *context);

/*
 * "_ZN2ns5Class6methodEv" as "ns::Class::method", ended by 0. False: no such
 * name, or one that is not simple enough, or too long.
 */
bool symbols_plain(const char *name, size_t length, char *out, size_t room);

#endif
