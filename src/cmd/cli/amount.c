/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/cli/amount.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct amount_unit {
	const char *name;
	double factor;
};

/* Accepts no sign, space, "inf" or hexadecimal digits, unlike strtod(). */
static bool parse(const char *text, const struct amount_unit *units, size_t count, double most,
                  uint64_t *value)
{
	size_t digits = strspn(text, "0123456789.");
	char *end;
	double number = strtod(text, &end);

	if (end != text + digits || !(number > 0))
		return false;
	for (size_t i = 0; i < count; i++) {
		if (strcmp(units[i].name, end) != 0)
			continue;
		number *= units[i].factor;
		if (!(number >= 1 && number <= most))
			return false;
		*value = (uint64_t)number;
		return true;
	}
	return false;
}

bool amount_bytes(const char *text, uint64_t *bytes)
{
	static const struct amount_unit units[] = {
	        {"k", 1e3},  {"K", 1e3},  {"M", 1e6},  {"G", 1e9},
	        {"kB", 1e3}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9},
	};

	return parse(text, units, sizeof(units) / sizeof(*units), 1e15, bytes);
}

bool amount_ns(const char *text, uint64_t *ns)
{
	static const struct amount_unit units[] = {
	        {"ms", 1e6},    {"s", 1e9},         {"min", 60e9},        {"h", 3600e9},
	        {"d", 86400e9}, {"w", 7 * 86400e9}, {"y", 365 * 86400e9},
	};

	return parse(text, units, sizeof(units) / sizeof(*units), 100 * 365 * 86400e9, ns);
}
