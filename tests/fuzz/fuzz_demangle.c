/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of other languages with any bytes: the demangler terminates, and its text is bounded.
 */
#include "symbol/demangle/demangle.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX (1u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *name = calloc(1, size + 1);

	if (!name)
		abort();
	memcpy(name, data, size);
	for (int way = 0; way < 3; way++) {
		char *plain = way == 0   ? demangle(name)
		              : way == 1 ? demangle_bare(name)
		                         : demangle_ada(name);

		if (plain && strlen(plain) > TEXT_MAX)
			abort();
		free(plain);
	}
	free(name);
	return 0;
}
