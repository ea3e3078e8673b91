/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/calls_tables.h"

#include "format/calls_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SESSION_PREFIX "run-"
#define RESET_MARK "reset"
#define NESTED_MAX 4 /* `assay calls -- assay calls -- ...` */

void calls_notes_done(calls_notes *notes)
{
	vec_each (note, notes)
		free(*note);
	vec_done(notes);
}

static bool is_own_directory(const char *path)
{
	struct stat st;

	return !lstat(path, &st) && S_ISDIR(st.st_mode) && st.st_uid == geteuid();
}

/* A session whose assay was killed; its directory goes as soon as nothing is in it. */
static void sweep(const char *path, const char *name)
{
	long pid = strtol(name + strlen(SESSION_PREFIX), NULL, 10);
	char *mark;

	if (pid <= 0 || pid > INT32_MAX || !kill((pid_t)pid, 0) || errno != ESRCH)
		return;
	mark = xasprintf("%s/" RESET_MARK, path);
	unlink(mark); /* nobody is there to be told */
	rmdir(path);
	free(mark);
}

static int add_tables(call_table_list *list, const char *directory, int depth, struct error *err)
{
	call_table_list here = {0};
	struct dirent *entry;
	DIR *dir;
	int rc = call_table_list_read(&here, directory, err);

	if (rc)
		return rc;
	/* What the items hold is the list's now. */
	vec_each (table, &here)
		vec_push(list, *table);
	vec_done(&here);
	dir = depth < NESTED_MAX ? opendir(directory) : NULL;
	while (dir && (entry = readdir(dir))) {
		char *path;

		if (strncmp(entry->d_name, SESSION_PREFIX, strlen(SESSION_PREFIX)) != 0)
			continue;
		path = xasprintf("%s/%s", directory, entry->d_name);
		/* One that goes meanwhile is no error. */
		if (is_own_directory(path) && !add_tables(list, path, depth + 1, NULL))
			sweep(path, entry->d_name);
		free(path);
	}
	if (dir)
		closedir(dir);
	return 0;
}

static int by_start(const void *a, const void *b)
{
	const struct call_table *x = a, *y = b;

	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

int calls_tables_of(call_table_list *list, const char *directory, struct error *err)
{
	int rc = add_tables(list, directory, 0, err);

	if (!rc && list->count)
		qsort(list->items, list->count, sizeof(*list->items), by_start);
	return rc;
}

int calls_tables_all(call_table_list *list, struct error *err)
{
	char *directory;
	int rc = call_table_directory(&directory, false, err);

	if (rc)
		return rc;
	rc = calls_tables_of(list, directory, err);
	free(directory);
	return rc;
}

static int read_copy(struct call_paths *into, const struct call_table *table,
                     const struct call_table_copy *copy, struct error *err)
{
	VEC(struct calls_thread_state) threads = {0};
	struct calls_state state = {.running = table->running,
	                            .live = table->running,
	                            .now = copy->now,
	                            .now_ns = copy->now_ns,
	                            .base = copy->base.data,
	                            .base_size = copy->base.size};
	int rc;

	vec_each (thread, &copy->threads)
		vec_push(&threads, (struct calls_thread_state){.tid = thread->tid,
		                                               .cpu_ns = thread->cpu_ns,
		                                               .runnable_ns = thread->runnable_ns,
		                                               .runs = thread->runs});
	state.threads = threads.items;
	state.thread_count = threads.count;
	rc = calls_file_read(into, copy->bytes.data, copy->bytes.size, table->path, &state, NULL,
	                     err);
	vec_done(&threads);
	return rc;
}

int calls_tables_read(struct call_paths *into, const call_table_list *list, calls_notes *notes,
                      struct error *err)
{
	size_t before = into->processes.count;
	struct error last = {0};
	int rc = 0;

	vec_each (table, list) {
		struct call_table_copy copy = {0};
		int failed = call_table_copy(&copy, table, &last);

		if (!failed)
			failed = read_copy(into, table, &copy, &last);
		call_table_copy_done(&copy);
		if (failed == -ENOENT) /* removed meanwhile, by a reset */
			continue;
		if (failed)
			vec_push(notes,
			         xasprintf("process %d is left out: %s", table->pid, last.text));
		rc = failed ? failed : rc;
	}
	if (rc && into->processes.count == before)
		return error_set(err, -rc, "%s", last.text);
	return 0;
}

/*
 * A table of a session was removed. The session has to tell "nothing was counted"
 * from "it was taken away"; one whose assay is gone has its directory removed.
 */
static void tell_session(const char *table)
{
	const char *slash = strrchr(table, '/');
	char *directory = xstrndup(table, slash ? (size_t)(slash - table) : 0);
	const char *name = strrchr(directory, '/');
	char *mark = xasprintf("%s/" RESET_MARK, directory);
	int fd;

	if (name && !strncmp(name + 1, SESSION_PREFIX, strlen(SESSION_PREFIX))) {
		fd = open(mark, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (fd >= 0)
			close(fd);
		sweep(directory, name + 1);
	}
	free(directory);
	free(mark);
}

int calls_tables_reset(const call_table_list *list, struct error *err)
{
	int rc = 0;

	/* Those that run first, so that they begin again at nearly the same moment. */
	for (int running = 1; running >= 0; running--) {
		vec_each (table, list) {
			int failed;

			if (table->running != (running == 1))
				continue;
			failed = call_table_reset(table, rc ? NULL : err);
			if (failed && failed != -ENOENT && !rc)
				rc = failed;
			if (!failed && !running)
				tell_session(table->path);
		}
	}
	return rc;
}

int calls_session_begin(char **directory, struct error *err)
{
	call_table_list none = {0};
	char *base;
	int rc = call_table_directory(&base, true, err);

	*directory = NULL;
	if (rc)
		return rc;
	/* Looks for what sessions left that were killed. */
	if (!add_tables(&none, base, 0, NULL))
		call_table_list_done(&none);
	*directory = xasprintf("%s/" SESSION_PREFIX "%d-XXXXXX", base, (int)getpid());
	if (!mkdtemp(*directory)) { /* 0700 */
		rc = error_set(err, errno, "%s: no directory can be made for the tables: %s", base,
		               strerror(errno));
		free(*directory);
		*directory = NULL;
	}
	free(base);
	return rc;
}

bool calls_session_was_reset(const char *directory)
{
	char *mark = xasprintf("%s/" RESET_MARK, directory);
	bool there = !access(mark, F_OK);

	free(mark);
	return there;
}

bool calls_session_end(const char *directory, const call_table_list *list)
{
	char *mark = xasprintf("%s/" RESET_MARK, directory);

	vec_each (table, list)
		if (!table->running)
			call_table_remove(table, NULL);
	unlink(mark);
	free(mark);
	return !rmdir(directory) || errno == ENOENT;
}
