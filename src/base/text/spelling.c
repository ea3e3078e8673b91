/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/text/spelling.h"

#include <stdint.h>
#include <string.h>

/*
 * Insertions, deletions and replacements that turn `a` into `b`; a large value for words longer
 * than a row.
 */
static size_t edit_distance(const char *a, const char *b)
{
	size_t row[64], n = strlen(b);

	if (n + 1 > sizeof(row) / sizeof(row[0]))
		return SIZE_MAX;
	for (size_t j = 0; j <= n; j++)
		row[j] = j;
	for (size_t i = 1; *a; a++, i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= n; j++) {
			size_t best = diagonal + (*a != b[j - 1]);

			diagonal = row[j];
			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			row[j] = best;
		}
	}
	return row[n];
}

const char *spelling_nearest(const char *word, const char *const *candidates, size_t count)
{
	const char *nearest = NULL;
	size_t length = strlen(word), least = length / 3 + 1, distance;

	for (size_t i = 0; i < count; i++) {
		/* A prefix of a name is better than any other match. */
		if (length >= 2 && !strncmp(candidates[i], word, length))
			return candidates[i];
		distance = edit_distance(word, candidates[i]);
		if (distance < least || (distance == least && !nearest)) {
			least = distance;
			nearest = candidates[i];
		}
	}
	return nearest;
}
