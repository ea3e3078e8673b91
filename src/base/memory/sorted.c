/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/memory/sorted.h"

#include <stdlib.h>

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static int compare_floats(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;

	return x < y ? -1 : x > y;
}

void sorted_u64(uint64_t *values, size_t count)
{
	if (count)
		qsort(values, count, sizeof(*values), compare_u64);
}

void sorted_doubles(double *values, size_t count)
{
	if (count)
		qsort(values, count, sizeof(*values), compare_doubles);
}

void sorted_floats(float *values, size_t count)
{
	if (count)
		qsort(values, count, sizeof(*values), compare_floats);
}
