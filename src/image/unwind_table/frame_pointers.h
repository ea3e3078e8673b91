/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * frame_pointers: checks whether a file's code keeps frame pointers (which the kernel needs to walk
 * it), and whether it has unwind tables (which assay needs) and debug information.
 *
 * A sample of the functions that call others is examined (a leaf function needs no frame), and
 * those that set up a frame before their first call are counted. Errors name the file. Uses: base.
 */
#ifndef ASSAY_IMAGE_UNWIND_TABLE_FRAME_POINTERS_H
#define ASSAY_IMAGE_UNWIND_TABLE_FRAME_POINTERS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct frame_pointers {
	size_t functions;     /* examined functions, all of which call others */
	size_t framed;        /* functions among them that keep a frame pointer */
	bool symtab;          /* includes names of local functions */
	bool unwind_table;    /* in the file itself */
	bool debug_info;      /* in the file itself */
	char debug_file[128]; /* separate debug information, by build-id; "" not installed */
};

/* -ENOTSUP for code of another architecture. */
int frame_pointers_survey(const char *path, struct frame_pointers *survey, struct error *err);

#endif
