/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sql_profile_fixture: tables over the profile of view_fixture.h, and a directory for files:
 * folder_make() first, folder_take_away() last. One thread. Uses: profile, sql, symbol.
 */
#ifndef ASSAY_TESTS_SQL_PROFILE_FIXTURE_H
#define ASSAY_TESTS_SQL_PROFILE_FIXTURE_H

#include "sql_fixture.h"
#include "view_fixture.h"

#include <unistd.h>

static char folder[64];

static inline bool folder_make(void)
{
	snprintf(folder, sizeof(folder), "/tmp/assay-unit-XXXXXX");
	return mkdtemp(folder) != NULL;
}

static inline void folder_take_away(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	if (system(command))
		printf("# cannot remove %s\n", folder);
}

/* The path of a file in the directory; valid until the next call. */
static inline const char *path_of(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static inline struct sql *open_profile(struct fixture *f)
{
	struct sql *s = NULL;

	CHECK_EQ(sql_open(&s, NULL), 0);
	CHECK_EQ(sql_add_profile(s, f->profile, f->symbols, NULL), 0);
	return s;
}

#endif
