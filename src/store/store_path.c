/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/store_path.h"

#include "base/file/safe_directory.h"
#include "base/memory/xalloc.h"
#include "store/sqlite/database_place.h"
#include "store/store.h"

#include <stdbool.h>
#include <string.h>
#include <unistd.h>

static bool means_roots(const char *name)
{
	return !store_is_remote(name) && !geteuid() && *name && !strchr(name, '/') &&
	       (access(name, F_OK) || database_place(name, DATABASE_WRITE, NULL, NULL));
}

int store_path_to_write_in(const char *directory, const char *name, char **path, struct error *err)
{
	int fd;

	*path = NULL;
	if (!means_roots(name)) {
		*path = xstrdup(name);
		return 0;
	}
	fd = safe_directory_open(directory,
	                         SAFE_DIRECTORY_MAKE | SAFE_DIRECTORY_OURS | SAFE_DIRECTORY_CLOSED,
	                         NULL, err);
	if (fd < 0)
		return fd;
	close(fd);
	*path = xasprintf("%s/%s", directory, name);
	return 0;
}

char *store_path_to_read_in(const char *directory, const char *name)
{
	char *path = means_roots(name) ? xasprintf("%s/%s", directory, name) : NULL;

	if (path && !access(path, F_OK))
		return path;
	free(path);
	return xstrdup(name);
}

int store_path_to_write(const char *name, char **path, struct error *err)
{
	return store_path_to_write_in(DATABASE_PLACE_OF_ROOT, name, path, err);
}

char *store_path_to_read(const char *name)
{
	return store_path_to_read_in(DATABASE_PLACE_OF_ROOT, name);
}
