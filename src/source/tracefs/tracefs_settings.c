/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/tracefs/tracefs_settings.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define SETTINGS_MAX 24
#define VALUE_MAX 1024

struct tracefs_setting {
	char file[256]; /* relative to the directory, or absolute: restored for instances too */
	char value[VALUE_MAX]; /* the value to restore; empty: the file is emptied */
};

struct tracefs_setting_list {
	bool instance;
	size_t count; /* increased after an entry is complete: the guard reads at any time */
	struct tracefs_setting items[SETTINGS_MAX];
};

static void path_of(const struct tracefs_settings *s, const char *file, char *path, size_t room)
{
	if (file[0] == '/')
		snprintf(path, room, "%s", file);
	else
		snprintf(path, room, "%s/%s", s->directory, file);
}

bool tracefs_settings_read(const struct tracefs_settings *s, const char *file, char *text,
                           size_t room)
{
	char path[640];
	ssize_t got;
	int fd;

	path_of(s, file, path, sizeof(path));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	got = read(fd, text, room - 1);
	close(fd);
	if (got < 0)
		return false;
	while (got && text[got - 1] == '\n')
		got--;
	text[got] = '\0';
	return true;
}

/* The kernel takes one word of a list at a time. 0 or errno. */
static int write_words(int fd, const char *value)
{
	ssize_t written;

	for (; *value; value += written) {
		written = write(fd, value, strlen(value));
		if (written <= 0)
			return written ? errno : EIO;
	}
	return 0;
}

int tracefs_settings_write(const struct tracefs_settings *s, const char *file, const char *value,
                           bool append, struct error *err)
{
	char path[640];
	int fd, code;

	path_of(s, file, path, sizeof(path));
	fd = open(path, O_WRONLY | O_CLOEXEC | (append ? O_APPEND : O_TRUNC));
	if (fd < 0)
		return error_set(err, errno, "%s: %s", path, strerror(errno));
	code = write_words(fd, value);
	/* Lists of functions are applied when the file is closed. */
	if (close(fd) && !code)
		code = errno;
	if (code)
		return error_set(err, code, "%s: \"%s\" was refused: %s", path, value,
		                 strerror(code));
	return 0;
}

/* Converts the text of a file into the value that restores it. */
static void keep_value(char *value, const char *file, char *text)
{
	char *bracket = strchr(text, '[');
	char *end = bracket ? strchr(bracket, ']') : NULL;
	/* The kernel prints a comment for an empty list. */
	bool empty = text[0] == '#' || !strncmp(text, "no pid", 6);

	/* One choice among several: "local [global] counter". */
	if (end && strcmp(file, "trace_clock") == 0) {
		*end = '\0';
		text = bracket + 1;
	}
	/*
	 * "7 (expanded: 1408)": the buffer is not in use yet; restoring 7 would disable its
	 * expansion.
	 */
	if (!strcmp(file, "buffer_size_kb") && strstr(text, "expanded: ")) {
		text = strstr(text, "expanded: ") + strlen("expanded: ");
		text[strspn(text, "0123456789")] = '\0';
	}
	snprintf(value, VALUE_MAX, "%s", empty ? "" : text);
}

int tracefs_settings_change(struct tracefs_settings *s, const char *file, const char *value,
                            bool optional, struct error *err)
{
	struct tracefs_setting_list *list = s->list;
	char text[VALUE_MAX];
	int status;

	if (!tracefs_settings_read(s, file, text, sizeof(text))) {
		if (optional)
			return 0;
		return error_set(err, errno, "%s/%s: %s", s->directory, file, strerror(errno));
	}
	if (list->count == SETTINGS_MAX)
		return error_set(err, E2BIG, "too many settings of tracefs are changed");
	/* An instance is removed as a whole. */
	if (!list->instance || file[0] == '/') {
		snprintf(list->items[list->count].file, sizeof(list->items[0].file), "%s", file);
		keep_value(list->items[list->count].value, file, text);
		__atomic_store_n(&list->count, list->count + 1, __ATOMIC_RELEASE);
	}
	status = tracefs_settings_write(s, file, value, false, err);
	return optional ? 0 : status;
}

static void put_back(const struct tracefs_settings *s)
{
	struct tracefs_setting_list *list = s->list;

	/*
	 * Tracing is disabled first, and the tracer is reset before its lists, so that an
	 * incomplete list is never used for tracing.
	 */
	tracefs_settings_write(s, "tracing_on", "0", false, NULL);
	tracefs_settings_write(s, "current_tracer", "nop", false, NULL);
	/* The buffers contain only events of this trace. */
	tracefs_settings_write(s, "trace", "", false, NULL);
	while (list->count) {
		struct tracefs_setting *item = &list->items[list->count - 1];

		tracefs_settings_write(s, item->file, item->value, false, NULL);
		list->count--;
	}
	/* EBUSY while the kernel closes the files of a reader that died. */
	for (int i = 0; list->instance && i < 200 && rmdir(s->directory) && errno == EBUSY; i++)
		usleep(10000);
}

/*
 * Waits for the other end of the pipe. A byte means that the settings were restored; end of file
 * means that the process died first. The guard closes all other files, so that a reader of a pipe
 * does not wait for the guard to exit.
 */
static _Noreturn void guard(const struct tracefs_settings *s, int pipe_fd)
{
	sigset_t all;
	ssize_t got;
	char byte;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	setsid();
	prctl(PR_SET_NAME, "assay-guard");
	if (pipe_fd != 3 && dup2(pipe_fd, 3) != 3)
		_exit(1);
	for (int fd = 0; fd < 3; fd++)
		close(fd);
	close_range(4, ~0u, 0);
	do
		got = read(3, &byte, 1);
	while (got < 0 && errno == EINTR);
	if (got != 1)
		put_back(s);
	_exit(0);
}

int tracefs_settings_begin(struct tracefs_settings *s, const char *directory, bool instance,
                           struct error *err)
{
	int ends[2];

	*s = (struct tracefs_settings){.alive = -1};
	snprintf(s->directory, sizeof(s->directory), "%s", directory);
	s->list = mmap(NULL, sizeof(*s->list), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
	               -1, 0);
	if (s->list == MAP_FAILED) {
		s->list = NULL;
		return error_set(err, errno, "mmap: %s", strerror(errno));
	}
	s->list->instance = instance;
	if (pipe2(ends, O_CLOEXEC))
		return error_set(err, errno, "pipe: %s", strerror(errno));
	s->guard = fork();
	if (!s->guard) {
		close(ends[1]);
		guard(s, ends[0]);
	}
	close(ends[0]);
	s->alive = ends[1];
	if (s->guard < 0)
		return error_set(err, errno, "fork: %s", strerror(errno));
	return 0;
}

void tracefs_settings_end(struct tracefs_settings *s)
{
	if (!s->list)
		return;
	put_back(s);
	tracefs_settings_abandon(s);
}

void tracefs_settings_abandon(struct tracefs_settings *s)
{
	if (!s->list)
		return;
	if (s->alive >= 0) {
		if (write(s->alive, "", 1) != 1)
			kill(s->guard, SIGKILL);
		close(s->alive);
	}
	if (s->guard > 0)
		waitpid(s->guard, NULL, 0);
	munmap(s->list, sizeof(*s->list));
	*s = (struct tracefs_settings){.alive = -1};
}

void tracefs_settings_sweep(const char *tracefs)
{
	char path[512], instance[1024];
	struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/instances", tracefs);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		char *end;
		long pid = strncmp(entry->d_name, "assay-", 6) == 0
		                   ? strtol(entry->d_name + 6, &end, 10)
		                   : 0;

		if (pid <= 0 || *end || (!kill((pid_t)pid, 0) || errno != ESRCH))
			continue;
		snprintf(instance, sizeof(instance), "%s/%s", path, entry->d_name);
		rmdir(instance);
	}
	if (dir)
		closedir(dir);
}
