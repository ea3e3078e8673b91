/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * symbols: the functions of a guest without tags, from an ELF file or from a text such as
 * /proc/kallsyms.
 *
 * symbols_open() is called once, before the others, which only read. Symbol 0 is none. A part that
 * the compiler has split off (f.cold) has the tag of its function. Addresses are the guest's
 * virtual ones.
 */
#ifndef ASSAY_DEVICE_SYMBOLS_H
#define ASSAY_DEVICE_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

#define SYMBOLS_MAX (1u << 22)

/* Returns 0, or -1 after a message on standard error. */
int symbols_open(const char *path);
/* The symbol that contains the address. *starts: it begins there. */
uint32_t symbols_find(uint64_t address, bool *starts);
/* The tag of its entry, even; the exit has tag + 1. */
uint32_t symbols_tag(uint32_t symbol);
/* True for the first code that runs after an interrupt, an exception or a system call. */
bool symbols_is_entry(uint32_t symbol);
/* The tag of a function by its name; 0: there is none. */
uint32_t symbols_tag_of(const char *name);
/*
 * Writes the lines of a names file. `switches`: with the marks of the functions that switch
 * processes and of interrupts; idle functions always have theirs. Returns 0 or -1.
 */
int symbols_write_names(int fd, bool switches);

#endif
