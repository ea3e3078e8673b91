/* SPDX-License-Identifier: MIT */
/*
 * program: the program that the runtime is in, as it tells itself, and as its
 * limits are. Raw system calls; signal safe; any thread. Uses: linux/place.h.
 */
#ifndef ASSAY_RUNTIME_LINUX_PROGRAM_H
#define ASSAY_RUNTIME_LINUX_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An environment variable as a number: "256M", "1g", "65536"; 0: unset, or no number. */
uint64_t program_bytes(const char *name);

/* One of so many parts of the address space, where that is limited; else UINT64_MAX. */
uint64_t program_space(uint64_t parts);

/* What the variable says, within these bounds and an eighth of such a space. */
uint64_t program_memory(const char *name, uint64_t otherwise, uint64_t least, uint64_t most);

/* Pages for all of a mapped file's part. False: there is no room, on disk or in memory. */
bool program_populate(char *at, uint64_t bytes);

/*
 * The same of the first `wanted` bytes and more, in steps that grow from `first_step`, so that
 * a full disk is an answer here and no SIGBUS later. False also where that is past `room`.
 * *populated: how far pages are there; several threads may be at it.
 */
bool program_grow(char *base, uint64_t wanted, uint64_t room, uint64_t first_step,
                  uint64_t *populated);

/* Its name without folders, and its arguments with blanks between; zeroed before. */
void program_describe(char *name, size_t name_room, char *command, size_t command_room);

#endif
