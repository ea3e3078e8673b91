/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spelling: finds the known word that is nearest to a misspelt one. Any thread. Uses: nothing.
 */
#ifndef ASSAY_BASE_TEXT_SPELLING_H
#define ASSAY_BASE_TEXT_SPELLING_H

#include <stddef.h>

/*
 * The candidate that begins with `word`, or else the nearest one that differs in at most a third of
 * its letters; NULL if there is none.
 */
const char *spelling_nearest(const char *word, const char *const *candidates, size_t count);

#endif
