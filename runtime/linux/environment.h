/* SPDX-License-Identifier: MIT */
/*
 * environment: the variables by which a program's children are counted, kept from the program's
 * start, and put into environments that lack them.
 *
 * A program may give a child an environment of its own. environment_complete() adds LD_PRELOAD with
 * this library and the ASSAY_CALLS_ variables that are missing there. An environment with an empty
 * LD_PRELOAD is left as it is: that child is not to be counted. Where the library was not preloaded
 * nothing is ever added. May be called by several threads and in a vfork's child; errno is kept.
 */
#ifndef ASSAY_RUNTIME_LINUX_ENVIRONMENT_H
#define ASSAY_RUNTIME_LINUX_ENVIRONMENT_H

#include <stddef.h>
#include <stdint.h>

/* Larger environments take memory of their own; a vfork's child whose exec succeeds leaves it. */
#define ENVIRONMENT_ROOM 4096

struct environment_room {
	_Alignas(sizeof(void *)) char bytes[ENVIRONMENT_ROOM];
	void *more;
	size_t more_bytes;
};

/* `given`, or a copy with what is missing, good until environment_done(). */
char *const *environment_complete(char *const *given, struct environment_room *room);
void environment_done(struct environment_room *room);

#endif
