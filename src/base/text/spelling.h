/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spelling: finds the known word that is nearest to a misspelt one. Any thread. Uses: nothing.
 */
#ifndef ASSAY_BASE_TEXT_SPELLING_H
#define ASSAY_BASE_TEXT_SPELLING_H

#include <stddef.h>

/* The candidate that begins so, or else differs by a third of its letters at most; NULL: none. */
const char *spelling_nearest(const char *word, const char *const *candidates, size_t count);

#endif
