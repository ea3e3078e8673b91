/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "image/capstone_library.h"

#include "base/library.h"

#include <errno.h>
#include <stdbool.h>

#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)
#define PACKAGE "libcapstone" TEXT(CS_API_MAJOR)
#define LIBRARY "libcapstone.so." TEXT(CS_API_MAJOR)

int capstone_library_load(struct capstone_library *l, struct error *err)
{
	void *library = library_open(LIBRARY);
	bool all = true;

	if (!library)
		return error_set(err, ENOENT,
		                 "code cannot be disassembled without " LIBRARY
		                 ", which is not installed (Debian: " PACKAGE ")");
#define CAPSTONE_FIND(name) all &= library_find(library, "cs_" #name, &l->name);
	CAPSTONE_FUNCTIONS(CAPSTONE_FIND)
#undef CAPSTONE_FIND
	return all ? 0 : error_set(err, ENOENT, LIBRARY " does not have the expected functions");
}

int capstone_open(struct capstone *c, cs_arch arch, cs_mode mode, struct error *err)
{
	int status = capstone_library_load(&c->library, err);
	cs_err refused;

	if (status)
		return status;
	refused = c->library.open(arch, mode, &c->handle);
	return refused ? error_set(err, ENOTSUP, "capstone: %s", c->library.strerror(refused)) : 0;
}

void capstone_close(struct capstone *c)
{
	c->library.close(&c->handle);
}
