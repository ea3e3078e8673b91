/* SPDX-License-Identifier: MIT */
/*
 * symbols: function names of an ELF file, and simple C++ demangling, for the filter. Offsets and
 * sizes in the file are checked against its size. A file in an unknown format has no symbols. No
 * malloc, no stdio. Signal safe. Uses: include/assay, linux/code/maps.h.
 */
#ifndef ASSAY_RUNTIME_LINUX_CODE_SYMBOLS_H
#define ASSAY_RUNTIME_LINUX_CODE_SYMBOLS_H

#include "assay/wire.h"

#include <stdbool.h>
#include <stddef.h>

/* A file's bytes, mapped or (for tests) in other memory. */
struct symbols_file {
	const uint8_t *bytes;
	size_t size;
};

/* Called for a function: its offset in the file and its name of `length` bytes, not ended by 0. */
typedef void symbols_fn(void *context, uint64_t offset, const char *name, size_t length);

/* Maps the file of an image. False: the file cannot be read, or was replaced. */
bool symbols_open(struct symbols_file *f, const struct assay_calls_image *image);
void symbols_close(struct symbols_file *f);
/* Calls `each` for each function of .symtab, or of .dynsym if there is no .symtab. */
void symbols_each(const struct symbols_file *f, symbols_fn *each, void *context);

/*
 * Writes "_ZN2ns5Class6methodEv" as "ns::Class::method", ended by 0. False: the name is not
 * mangled, not supported, or too long.
 */
bool symbols_plain(const char *name, size_t length, char *out, size_t room);

#endif
