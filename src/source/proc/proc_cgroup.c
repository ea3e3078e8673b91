/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/proc/proc_cgroup.h"

#include "base/memory/buf.h"

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
	struct buf path; /* in the kernel's notation */
	size_t told;
};

/* Decodes \ooo, which /proc/PID/mountinfo uses for spaces and other characters. */
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
 * Finds the hierarchy to which the cgroup ids in samples belong: an own hierarchy of the perf_event
 * controller (version 1), or the unified one (version 2).
 */
void proc_cgroup_find(struct proc_cgroup_place *p)
{
	const size_t size = sizeof(p->root);
	FILE *file = fopen("/proc/self/mountinfo", "re");
	char *line = NULL;
	size_t room = 0;

	p->found = p->own = false;
	while (file && !p->own && getline(&line, &room, file) > 0) {
		char type[32], options[512], *r = NULL, *m = NULL;
		bool own;

		const char *rest = strstr(line, " - ");

		if (!rest || sscanf(rest, " - %31s %*s %511s", type, options) != 2 ||
		    sscanf(line, "%*s %*s %*s %ms %ms", &r, &m) != 2) {
			free(r);
			continue;
		}
		own = !strcmp(type, "cgroup") && strstr(options, "perf_event");
		if ((own || (!p->found && !strcmp(type, "cgroup2"))) && strlen(r) < size &&
		    strlen(m) < size) {
			p->found = true;
			p->own = own;
			unescape(r);
			unescape(m);
			snprintf(p->root, size, "%s", strcmp(r, "/") ? r : "");
			snprintf(p->mount, size, "%s", m);
		}
		free(r);
		free(m);
	}
	free(line);
	if (file)
		fclose(file);
}

/*
 * Finds the path in "4:perf_event:/a", or in "0::/a" of the unified hierarchy. It points into
 * `line`; NULL: another hierarchy.
 */
static const char *path_in(const struct proc_cgroup_place *p, char *line)
{
	char *controllers = strchr(line, ':'),
	     *path = controllers ? strchr(controllers + 1, ':') : NULL;

	if (!path)
		return NULL;
	*path++ = '\0';
	path[strcspn(path, "\n")] = '\0';
	if (p->own ? !strstr(controllers, "perf_event") : strncmp(line, "0:", 2) != 0)
		return NULL;
	return path;
}

/* Reads the id from the directory; false: it was removed, or is outside the visible hierarchy. */
static bool number_of(const struct proc_cgroup_place *p, const char *path, uint64_t *id)
{
	size_t length = strlen(p->root);
	char directory[2 * 4096];
	struct stat st;

	if (strncmp(path, p->root, length) != 0 || (path[length] != '/' && path[length]) ||
	    !strncmp(path, "/..", 3))
		return false;
	snprintf(directory, sizeof(directory), "%s%.4000s", p->mount, path + length);
	if (lstat(directory, &st) || !S_ISDIR(st.st_mode))
		return false;
	*id = st.st_ino;
	return true;
}

int proc_cgroup_tell(const struct proc_cgroup_place *p, const struct proc_scan *scan, int32_t pid,
                     struct error *err)
{
	struct event e = {.kind = EVENT_CGROUP,
	                  .mode = CPU_MODE_UNKNOWN,
	                  .pid = pid,
	                  .tid = pid,
	                  .cgroup.member = true};
	char name[64], *line = NULL;
	size_t room = 0;
	int status = 0;
	bool told = false;
	FILE *file;

	if (!p->found)
		return 0;
	snprintf(name, sizeof(name), "/proc/%d/cgroup", pid);
	file = fopen(name, "re");
	while (file && !told && getline(&line, &room, file) > 0) {
		e.cgroup.path = path_in(p, line);
		told = e.cgroup.path && number_of(p, e.cgroup.path, &e.cgroup.id);
		if (told)
			status = scan->deliver(scan->ctx, &e, err);
	}
	free(line);
	if (file)
		fclose(file);
	return status;
}

/* The directory's inode is the cgroup's id. */
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

/* Takes ownership of `fd`. */
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
	struct proc_cgroup_place place;
	int status = 0;

	proc_cgroup_find(&place);
	if (place.found) {
		buf_addf(&w.path, "%s", place.root);
		status = walk(&w, open(place.mount, O_RDONLY | O_DIRECTORY | O_CLOEXEC), 0, err);
	}
	buf_done(&w.path);
	return status;
}
