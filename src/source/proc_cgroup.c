/* SPDX-License-Identifier: GPL-2.0-or-later */
/* proc_cgroup: the cgroups that there are, as proc.h tells them. */
#include "source/proc.h"

#include "base/buf.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CGROUPS_MAX 65536
#define DEPTH_MAX 64

struct cgroup_walk {
	const struct proc_scan *scan;
	struct buf path; /* as the kernel names it */
	size_t told;
};

/* Spaces and the like stand as \ooo in lines about mounts. */
static void unescape(char *text)
{
	char *to = text;

	for (const char *p = text; *p;) {
		unsigned value;

		if (*p == '\\' && sscanf(p, "\\%3o", &value) == 1 && strlen(p) >= 4) {
			*to++ = (char)value;
			p += 4;
		} else {
			*to++ = *p++;
		}
	}
	*to = '\0';
}

/*
 * Numbers in samples are of the hierarchy with the perf_event controller: one of its own,
 * as of old, or the one that all others share.
 */
static bool find_mount(char *root, char *mount, size_t size)
{
	FILE *file = fopen("/proc/self/mountinfo", "re");
	char *line = NULL;
	size_t room = 0;
	bool found = false, own = false;

	while (file && !own && getline(&line, &room, file) > 0) {
		char type[32], options[512], *r = NULL, *m = NULL;
		const char *rest = strstr(line, " - ");

		if (!rest || sscanf(rest, " - %31s %*s %511s", type, options) != 2 ||
		    sscanf(line, "%*s %*s %*s %ms %ms", &r, &m) != 2) {
			free(r);
			continue;
		}
		own = !strcmp(type, "cgroup") && strstr(options, "perf_event");
		if ((own || (!found && !strcmp(type, "cgroup2"))) && strlen(r) < size &&
		    strlen(m) < size) {
			found = true;
			unescape(r);
			unescape(m);
			snprintf(root, size, "%s", strcmp(r, "/") ? r : "");
			snprintf(mount, size, "%s", m);
		}
		free(r);
		free(m);
	}
	free(line);
	if (file)
		fclose(file);
	return found;
}

/* The directory's inode is the cgroup's number. */
static int tell(struct cgroup_walk *w, int dir, struct error *err)
{
	struct event e = {.kind = EVENT_CGROUP, .mode = CPU_MODE_UNKNOWN, .pid = -1, .tid = -1};
	struct stat st;

	if (fstat(dir, &st))
		return 0;
	w->told++;
	e.cgroup.id = st.st_ino;
	e.cgroup.path = w->path.size ? buf_text(&w->path) : "/";
	return w->scan->deliver(w->scan->ctx, &e, err);
}

/* `fd` is taken over. */
static int walk(struct cgroup_walk *w, int fd, int depth, struct error *err)
{
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	size_t length = w->path.size;
	int status;

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return 0;
	}
	status = tell(w, fd, err);
	while (!status && depth < DEPTH_MAX && w->told < CGROUPS_MAX && (entry = readdir(dir))) {
		if (entry->d_type != DT_DIR || !strcmp(entry->d_name, ".") ||
		    !strcmp(entry->d_name, ".."))
			continue;
		buf_addf(&w->path, "/%s", entry->d_name);
		status = walk(
		        w,
		        openat(fd, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC),
		        depth + 1, err);
		w->path.size = length;
	}
	closedir(dir);
	return status;
}

int proc_scan_cgroups(const struct proc_scan *scan, struct error *err)
{
	struct cgroup_walk w = {.scan = scan};
	char root[4096], mount[4096];
	int status = 0;

	if (find_mount(root, mount, sizeof(root))) {
		buf_addf(&w.path, "%s", root);
		status = walk(&w, open(mount, O_RDONLY | O_DIRECTORY | O_CLOEXEC), 0, err);
	}
	buf_done(&w.path);
	return status;
}
