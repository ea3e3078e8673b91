/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rules files with any contents: groups and patterns are not empty and have no blanks.
 */
#include "format/rules_file.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void check_rule(void *of, const char *group, const char *pattern)
{
	size_t *rules = of;

	if (!*group || *group == '(' || strchr(group, ':') || strchr(group, '\n') || !*pattern ||
	    strpbrk(pattern, " \t\r\n"))
		abort();
	++*rules;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct error err = {0};
	size_t rules = 0;
	int ret = rules_file_parse((const char *)bytes, size, "fuzz", check_rule, &rules, &err);

	/* An error has a sentence; a rule has at least three bytes. */
	if ((ret != 0) != (err.text[0] != '\0') || rules > size / 2)
		abort();
	return 0;
}
