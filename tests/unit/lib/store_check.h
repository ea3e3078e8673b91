/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * store_check: checks that tests of a store's history make on its file, at `path`.
 */
#ifndef ASSAY_TESTS_STORE_CHECK_H
#define ASSAY_TESTS_STORE_CHECK_H

#include "check.h"
#include "sqlite_fixture.h"
#include "store_fixture.h"

static char path[64];

/* Functions of 256 bytes. */
static void name_frames(void *ctx, const struct profile *p, const uint32_t *frames, size_t count,
                        const char **names)
{
	static char texts[8192][24];

	for (size_t i = 0; i < count; i++) {
		uint64_t offset = p->frames.items[frames[i]].frame.offset;

		names[i] = i < 8192 ? texts[i] : NULL;
		if (names[i])
			snprintf(texts[i], sizeof(texts[i]), "f%llx",
			         (unsigned long long)offset >> 8);
	}
}

static int64_t number(const char *sql)
{
	return sqlite_number(path, sql);
}

/* Rows that refer to a missing row. */
static void check_refers(const char *table, const char *column, const char *to)
{
	char sql[192];

	snprintf(sql, sizeof(sql),
	         "SELECT count(*) FROM %s WHERE %s <> 0 AND %s NOT IN (SELECT id FROM %s)", table,
	         column, column, to);
	if (number(sql))
		printf("# %s\n", sql);
	CHECK_EQ(number(sql), 0);
}

static void check_whole(void)
{
	static const char *const refer[][3] = {
	        {"sample", "window", "window"},     {"sample", "thread", "thread"},
	        {"sample", "stack", "stack"},       {"sample", "region", "image"},
	        {"sample", "event", "event"},       {"thread", "process", "process"},
	        {"thread", "name", "name"},         {"process", "name", "name"},
	        {"process", "cgroup", "name"},      {"stack", "parent", "stack"},
	        {"stack", "frame", "frame"},        {"frame", "image", "image"},
	        {"frame", "function", "function"},  {"function", "image", "image"},
	        {"function", "name", "name"},       {"image", "path", "name"},
	        {"event", "name", "name"},          {"instance", "name", "name"},
	        {"ledger_cpu", "window", "window"}, {"buffer", "window", "window"},
	};

	CHECK_EQ(number("SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'"),
	         1);
	for (size_t i = 0; i < sizeof(refer) / sizeof(*refer); i++)
		check_refers(refer[i][0], refer[i][1], refer[i][2]);
	CHECK_EQ(number("SELECT count(*) FROM window WHERE level < 0"), 0);
}

#endif
