/* SPDX-License-Identifier: MIT */
/*
 * loaded: an ELF image that the dynamic linker has loaded.
 *
 * loaded_find() fills one for an address, loaded_each() for all images. They read the image's
 * dynamic section, relocations and symbols in memory, which the dynamic linker has already used.
 * With _dl_find_object (glibc 2.35), loaded_find() takes no lock. Otherwise both take the lock of
 * dl_iterate_phdr(). No malloc. Uses: nothing.
 */
#ifndef ASSAY_RUNTIME_LIBRARIES_LOADED_H
#define ASSAY_RUNTIME_LIBRARIES_LOADED_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct loaded {
	uintptr_t base;       /* added to the file's addresses */
	uintptr_t start, end; /* of the whole mapping */
	const char *path;     /* "" for the program itself */
	const ElfW(Phdr) * segments;
	unsigned segment_count;
	const ElfW(Rela) * jump_slots, *relocations;
	size_t jump_slot_count, relocation_count;
	const ElfW(Sym) * symbols;
	const char *strings;
	size_t strings_bytes;
	const uint32_t *gnu_hash;         /* NULL: none */
	uintptr_t relro_start, relro_end; /* whole pages */
};

bool loaded_find(uintptr_t address, struct loaded *image);
void loaded_each(void (*each)(const struct loaded *image, void *context), void *context);

/* The name of a relocation's symbol; "": it has none. */
const char *loaded_name(const struct loaded *image, const ElfW(Rela) * relocation);
/*
 * Finds the function of that name that the image defines. False: there is none. If there are
 * several versions, it prefers one that is chosen at load time (STT_GNU_IFUNC).
 */
bool loaded_function(const struct loaded *image, const char *name, uintptr_t *address, int *type);
/* True if the image calls the hooks that compilers insert. */
bool loaded_is_instrumented(const struct loaded *image);
static inline bool loaded_holds(const struct loaded *image, uintptr_t address)
{
	return address - image->start < image->end - image->start;
}

#endif
