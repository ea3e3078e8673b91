/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * joined: the functions of different builds of a file, as one.
 *
 * Machines of a fleet run several builds of a program, of libraries and of the kernel, and one file
 * may be replaced while it is recorded. Rows of their functions have the same texts, so views group
 * by what these functions return. Functions of one name in one file stay separate if there is only
 * one build of it. Addresses differ between builds: they are those of view_function().
 *
 * Nothing to free: view_free() frees. Nothing fails. Uses: base, profile, symbol, view.
 */
#ifndef ASSAY_VIEW_JOINED_H
#define ASSAY_VIEW_JOINED_H

#include "view/view.h"

/* The first image of the same kind and path. */
uint32_t view_joined_image(struct view *v, uint32_t image);
/* The first function that was looked up of this name in an image of that path. Never NULL. */
const struct symbol *view_joined_function(struct view *v, uint32_t frame);

/* For view_free(). NULL-safe. */
void view_joined_free(struct view_joined *j);

#endif
