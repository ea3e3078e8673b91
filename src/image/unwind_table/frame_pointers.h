/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * frame_pointers: does a file's code keep frame pointers, so that the kernel
 * can walk through it, has it unwind tables, so that we can, and debug info?
 *
 * Looks at a sample of the functions that call others (a function that calls
 * none needs no frame) and counts those that set up a frame before their first
 * call. Errors name the file. Uses: base.
 */
#ifndef ASSAY_IMAGE_UNWIND_TABLE_FRAME_POINTERS_H
#define ASSAY_IMAGE_UNWIND_TABLE_FRAME_POINTERS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct frame_pointers {
	size_t functions;     /* looked at, all of which call others */
	size_t framed;        /* of these, how many keep a frame pointer */
	bool symtab;          /* names of local functions too */
	bool unwind_table;    /* in the file itself */
	bool debug_info;      /* likewise */
	char debug_file[128]; /* debug info apart, by build-id; "" none is installed */
};

/* -ENOTSUP where it is code of another machine than this. */
int frame_pointers_survey(const char *path, struct frame_pointers *survey, struct error *err);

#endif
