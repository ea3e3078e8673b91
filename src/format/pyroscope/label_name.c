/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/pyroscope/label_name.h"

/* Of ASCII, whatever the locale is. */
static char character(char c, bool first)
{
	bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');

	return letter || (c >= '0' && c <= '9' && !first) ? c : '_';
}

void label_name_make(char *key)
{
	for (char *at = key; *at; at++)
		*at = character(*at, at == key);
}

bool label_name_is(const char *key, const char *name)
{
	const char *at = key;

	for (; *at; at++, name++)
		if (character(*at, at == key) != *name)
			return false;
	return !*name;
}
