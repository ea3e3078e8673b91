/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "launch/tags/tags_files.h"

#include "launch/run_directory.h"

#include <stdlib.h>
#include <string.h>

static int add_files(void *ctx, const char *directory, struct error *err)
{
	tag_rings_list *list = ctx, here = {0};
	int rc = tag_rings_list_read(&here, directory, err);

	/* The list now owns the contents of the items. */
	vec_each (file, &here)
		vec_push(list, *file);
	vec_done(&here);
	return rc;
}

int tags_files_all(tag_rings_list *list, struct error *err)
{
	char *directory;
	int rc = tag_rings_directory(&directory, false, err);

	if (!rc)
		rc = run_directory_each(directory, add_files, list, err);
	if (list->count)
		qsort(list->items, list->count, sizeof(*list->items), runtime_file_compare);
	free(directory);
	return rc;
}

int tags_session_begin(char **directory, struct error *err)
{
	return run_directory_begin(&tag_rings_kind, directory, err);
}

bool tags_session_end(const char *directory)
{
	return run_directory_end(directory);
}
