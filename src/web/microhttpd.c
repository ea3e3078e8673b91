/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "web/microhttpd.h"

#include "base/library.h"

#include <errno.h>
#include <stdbool.h>

#define LIBRARY "libmicrohttpd.so.12"

int microhttpd_load(struct microhttpd *m, struct error *err)
{
	void *library = library_open(LIBRARY);
	bool all = true;

	if (!library)
		return error_set(
		        err, ENOENT,
		        "the page cannot be served without " LIBRARY
		        ", which is not installed (Debian: libmicrohttpd12); 'assay report "
		        "--html FILE' writes it as a file");
#define MICROHTTPD_FIND(name) all &= library_find(library, "MHD_" #name, &m->name);
	MICROHTTPD_FUNCTIONS(MICROHTTPD_FIND)
#undef MICROHTTPD_FIND
	return all ? 0 : error_set(err, ENOENT, LIBRARY " does not have the expected functions");
}
