/* SPDX-License-Identifier: MIT */
/* none: the functions of libraries.h for architectures without stubs. */
#include "libraries/libraries.h"

bool libraries_begin(void)
{
	return false;
}

void libraries_look(uint64_t start, uint64_t end, const char *path)
{
	(void)start;
	(void)end;
	(void)path;
}
