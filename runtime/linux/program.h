/* SPDX-License-Identifier: MIT */
/*
 * program: the name, the variables and the limits of the program that contains the runtime. Raw
 * system calls; signal safe; any thread. Uses: linux/place.h.
 */
#ifndef ASSAY_RUNTIME_LINUX_PROGRAM_H
#define ASSAY_RUNTIME_LINUX_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An environment variable as a number: "256M", "1g", "65536". 0: not set, or not a number. */
uint64_t program_bytes(const char *name);

/* The address space limit divided by `parts`, or UINT64_MAX without a limit. */
uint64_t program_space(uint64_t parts);

/*
 * The value of the variable in bytes, or `otherwise`; between `least` and `most`, and at most an
 * eighth of the address space limit.
 */
uint64_t program_memory(const char *name, uint64_t otherwise, uint64_t least, uint64_t most);

/* Allocates all pages of a part of a mapped file. False: no space on disk or in memory. */
bool program_populate(char *at, uint64_t bytes);

/*
 * Allocates the pages of at least the first `wanted` bytes, in steps that grow from `first_step`. A
 * full disk is therefore reported here and causes no SIGBUS later. False also if this would exceed
 * `room`. *populated: the allocated bytes. Several threads may call this at once.
 */
bool program_grow(char *base, uint64_t wanted, uint64_t room, uint64_t first_step,
                  uint64_t *populated);

/*
 * The program's name without folders, and its arguments separated by blanks. The buffers must be
 * zero.
 */
void program_describe(char *name, size_t name_room, char *command, size_t command_room);

#endif
