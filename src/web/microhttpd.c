/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "web/microhttpd.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>

#define LIBRARY "libmicrohttpd.so.12"

/* A pointer to a function cannot be assigned from void * in standard C. */
static bool find(void *library, const char *name, void *function)
{
	void *address = dlsym(library, name);

	*(void **)function = address;
	return address != NULL;
}

int microhttpd_load(struct microhttpd *m, struct error *err)
{
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	bool all = true;

	if (!library)
		return error_set(
		        err, ENOENT,
		        "the page cannot be served without " LIBRARY
		        ", which is not installed (Debian: libmicrohttpd12); 'assay report "
		        "--html FILE' writes it as a file");
#define MICROHTTPD_FIND(name) all &= find(library, "MHD_" #name, &m->name);
	MICROHTTPD_FUNCTIONS(MICROHTTPD_FIND)
#undef MICROHTTPD_FIND
	return all ? 0 : error_set(err, ENOENT, LIBRARY " does not have the expected functions");
}
