/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/library.h"

#include <dlfcn.h>
#include <stddef.h>

void *library_open(const char *name)
{
	return dlopen(name, RTLD_NOW | RTLD_LOCAL);
}

/* A pointer to a function cannot be assigned from void * in standard C. */
bool library_find(void *library, const char *name, void *function)
{
	void *address = dlsym(library, name);

	*(void **)function = address;
	return address != NULL;
}
