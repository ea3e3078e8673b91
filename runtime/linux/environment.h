/* SPDX-License-Identifier: MIT */
/*
 * environment: the variables that make the runtime count a program's children. They are copied at
 * the program's start, and added to environments that lack them.
 *
 * A program may start a child with a different environment. environment_complete() adds LD_PRELOAD
 * with this library, and the ASSAY_CALLS_ variables that are missing. An environment with an empty
 * LD_PRELOAD is not changed: the user excludes that child. If the library was not preloaded,
 * nothing is added. Several threads may call this, also in a vfork's child. errno is preserved.
 */
#ifndef ASSAY_RUNTIME_LINUX_ENVIRONMENT_H
#define ASSAY_RUNTIME_LINUX_ENVIRONMENT_H

#include <stddef.h>
#include <stdint.h>

/* Bytes. A larger environment is allocated; a vfork's child whose exec succeeds leaks it. */
#define ENVIRONMENT_ROOM 4096

struct environment_room {
	_Alignas(sizeof(void *)) char bytes[ENVIRONMENT_ROOM];
	void *more;
	size_t more_bytes;
};

/* Returns `given`, or a copy with the missing variables that is valid until environment_done(). */
char *const *environment_complete(char *const *given, struct environment_room *room);
void environment_done(struct environment_room *room);

#endif
