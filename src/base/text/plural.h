/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plural: the noun for a count in a sentence ("1 sample", "2 samples"), with its verb if needed:
 * plural(n, "record was", "records were"). Any thread. Uses: nothing.
 */
#ifndef ASSAY_BASE_TEXT_PLURAL_H
#define ASSAY_BASE_TEXT_PLURAL_H

#include <stdint.h>

static inline const char *plural(uint64_t count, const char *one, const char *many)
{
	return count == 1 ? one : many;
}

#endif
