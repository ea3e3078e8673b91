/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/tracefs/tracepoint_files.h"

#include "base/memory/buf.h"
#include "base/memory/xalloc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

/* Descriptions are a few KB; larger ones are not read. */
#define TEXT_MAX (1u << 20)

static char *read_text(int directory, const char *path)
{
	int fd = openat(directory, path, O_RDONLY | O_CLOEXEC);
	struct buf text = {0};
	char piece[4096], *copy = NULL;
	ssize_t n = -1;

	if (fd < 0)
		return NULL;
	while (text.size < TEXT_MAX && (n = read(fd, piece, sizeof(piece))) > 0)
		buf_add(&text, piece, (size_t)n);
	close(fd);
	if (!n)
		copy = xstrdup(buf_text(&text));
	buf_done(&text);
	return copy;
}

/*
 * An instance of tracefs that is attached to no directory, and visible to this process alone;
 * closing the descriptor unmounts it. Needs CAP_SYS_ADMIN and Linux 5.2. -1: not possible.
 */
static int mount_tracefs(void)
{
	int context = fsopen("tracefs", FSOPEN_CLOEXEC), directory = -1;

	if (context < 0)
		return -1;
	if (!fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
		directory = fsmount(context, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOEXEC);
	close(context);
	return directory;
}

/* For a machine on which tracefs is not mounted. */
static char *unmounted_text(const char *file)
{
	int directory = mount_tracefs();
	char *text;

	if (directory < 0)
		return NULL;
	text = read_text(directory, file);
	close(directory);
	return text;
}

char *tracefs_text(const char *file)
{
	static const char *const roots[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
	char *text = NULL;

	for (size_t i = 0; i < 2 && !text; i++) {
		char *path = xasprintf("%s/%s", roots[i], file);

		text = read_text(AT_FDCWD, path);
		free(path);
	}
	return text ? text : unmounted_text(file);
}

/* A file of the directory of "system:event"; perf's modifiers may follow (":u"). */
static char *tracepoint_text(const char *name, const char *file)
{
	const char *colon = strchr(name, ':');
	char *path, *text;

	if (!colon || strchr(name, '/'))
		return NULL;
	path = xasprintf("events/%.*s/%.*s/%s", (int)(colon - name), name,
	                 (int)strcspn(colon + 1, ":"), colon + 1, file);
	text = tracefs_text(path);
	free(path);
	return text;
}

int tracepoint_id(const char *name, uint64_t *id, struct error *err)
{
	char *text = tracepoint_text(name, "id");

	if (!text)
		return error_set(err, ENOENT,
		                 "tracepoint '%s' does not exist in tracefs (is tracefs "
		                 "mounted at /sys/kernel/tracing, and readable by you?)",
		                 name);
	*id = strtoull(text, NULL, 10);
	free(text);
	return 0;
}

char *tracepoint_format(const char *name)
{
	return tracepoint_text(name, "format");
}
