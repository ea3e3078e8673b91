/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "launch/program_file.h"

#include "base/memory/xalloc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROOM_LEAST (128u << 10) /* bytes: more than the initial size of a file of the runtime */

bool program_file_is_there(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, R_OK);
}

char *program_file_own_directory(void)
{
	char path[4096];
	ssize_t size = readlink("/proc/self/exe", path, sizeof(path) - 1);
	char *slash;

	if (size <= 0)
		return xstrdup(".");
	path[size] = '\0';
	slash = strrchr(path, '/');
	if (slash)
		*slash = '\0';
	return xstrdup(path);
}

bool program_file_is_packaged(void)
{
	char *directory = program_file_own_directory();
	bool packaged = !strcmp(directory, "/usr/bin");

	free(directory);
	return packaged;
}

char *program_file_find(const char *name)
{
	const char *paths = getenv("PATH");

	if (strchr(name, '/'))
		return xstrdup(name);
	for (paths = paths ? paths : "/bin:/usr/bin"; *paths;) {
		size_t size = strcspn(paths, ":");
		char *path = size ? xasprintf("%.*s/%s", (int)size, paths, name)
		                  : xasprintf("./%s", name);
		struct stat st;

		if (!access(path, X_OK) && !stat(path, &st) && S_ISREG(st.st_mode))
			return path;
		free(path);
		paths += size + (paths[size] == ':');
	}
	return NULL;
}

char *program_file_interpreter(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char line[256] = {0}, *start = line + 2;
	ssize_t size;

	if (fd < 0)
		return NULL;
	size = read(fd, line, sizeof(line) - 1);
	close(fd);
	if (size < 2 || memcmp(line, "#!", 2))
		return NULL;
	start += strspn(start, " \t");
	return xstrndup(start, strcspn(start, " \t\n"));
}

bool program_file_is_full(const char *directory)
{
	struct statvfs room;

	return !statvfs(directory, &room) && room.f_bavail < ROOM_LEAST / room.f_frsize + 1;
}

const char *program_file_started(char *const command[], bool (*is)(const char *path), char **path)
{
	for (char *const *word = command + 1; *command && *word; word++) {
		*path = **word == '-' ? NULL : program_file_find(*word);
		if (*path && is(*path))
			return *word;
		free(*path);
	}
	*path = NULL;
	return NULL;
}

int program_file_not_started(const char *what, const char *by, const char *name, int status,
                             struct error *err)
{
	char how[40];

	if (WIFSIGNALED(status))
		snprintf(how, sizeof(how), "ended by signal %d", WTERMSIG(status));
	else
		snprintf(how, sizeof(how), "exited with status %d", WEXITSTATUS(status));
	return error_set(
	        err, EACCES,
	        "%s, though %s is built for it: %s, which starts it, %s; if it changes its "
	        "user, that user must be able to run %s, and to search each directory above "
	        "it",
	        what, name, by, how, name);
}
