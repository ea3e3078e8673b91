/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * library: shared libraries that are loaded when a command needs them.
 *
 * A linked library takes time and memory in each process, also where it is not used. Each user has
 * a table of the functions that it calls, filled from one list:
 *
 *	library = library_open("libcurl.so.4");	NULL: it is not installed
 *	all &= library_find(library, "curl_easy_init", &l->easy_init);
 *
 * A library stays loaded. Any thread. Uses: nothing.
 */
#ifndef ASSAY_BASE_LIBRARY_H
#define ASSAY_BASE_LIBRARY_H

#include <stdbool.h>

void *library_open(const char *name);
/* function: address of a pointer to a function; NULL is stored and false returned if there is none.
 */
bool library_find(void *library, const char *name, void *function);

#endif
