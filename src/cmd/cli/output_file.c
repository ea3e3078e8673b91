/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/cli/output_file.h"

#include "base/file/replace_file.h"

#include <errno.h>

static const char *measured(enum file_kind kind)
{
	switch (kind) {
	case FILE_PERF_DATA:
		return "a recording";
	case FILE_STORE:
		return "a store";
	case FILE_CALLS:
		return "a table of calls";
	default:
		return NULL;
	}
}

int output_file_measured(const char *path, enum file_kind own, struct error *err)
{
	enum file_kind kind = file_kind_of(path, NULL);

	if (kind != own && measured(kind))
		return error_set(err, EEXIST,
		                 "%s is %s, and is not replaced: name another file, or move this "
		                 "one away",
		                 path, measured(kind));
	return 0;
}

int output_file_check(const char *path, enum file_kind own, struct error *err)
{
	int status = replace_file_check(path, err);

	return status ? status : output_file_measured(path, own, err);
}
