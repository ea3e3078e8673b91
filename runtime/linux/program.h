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

/* Pages for all of a mapped file's part. False: there is no room, on disk or in memory. */
bool program_populate(char *at, uint64_t bytes);

/* Its name without folders, and its arguments with blanks between; zeroed before. */
void program_describe(char *name, size_t name_room, char *command, size_t command_room);

#endif
