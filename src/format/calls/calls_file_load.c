/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/read/file_map.h"
#include "base/read/regular_file.h"
#include "format/calls/calls_file.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A table that a process left may be followed by reserved, unused space. */
static bool all_zeros(const char *bytes, size_t size)
{
	return !size || (!*bytes && !memcmp(bytes, bytes + 1, size - 1));
}

static int tables_read(struct call_paths *into, const char *bytes, size_t size, const char *path,
                       struct error *err)
{
	size_t offset = 0, used;
	int rc;

	do {
		rc = calls_file_read(into, bytes + offset, size - offset, path, NULL, &used, err);
		if (rc && !offset)
			return rc;
		/* The tables before the damage are valid. */
		if (rc)
			break;
		offset += used;
	} while (calls_file_is(bytes + offset, size - offset));
	if (rc || !all_zeros(bytes + offset, size - offset))
		vec_last(&into->processes)->flags |= CALL_DAMAGED;
	return 0;
}

int calls_file_load(struct call_paths *into, const char *path, struct error *err)
{
	struct file_map map;
	struct stat st;
	int fd = regular_file_open(path, &st), rc;

	if (fd == -EINVAL)
		return error_set(err, EINVAL, "%s is not a regular file", path);
	if (fd < 0)
		return error_set(err, -fd, "cannot open %s: %s", path, strerror(-fd));
	if (!st.st_size) {
		close(fd);
		return error_set(err, EINVAL, "%s is empty: no table of call paths", path);
	}
	into->namer = file_namer_both(into->namer, file_namer_of_recording(fd));
	rc = file_map_open(&map, fd, (size_t)st.st_size, PROT_READ, MAP_PRIVATE);
	close(fd);
	if (rc)
		return error_set(err, -rc, "cannot map %s: %s", path, strerror(-rc));
	rc = tables_read(into, map.bytes, map.size, path, err);
	rc = file_map_error(&map, path, rc, err);
	file_map_close(&map);
	return rc;
}
