/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "launch/qemu/qemu_run.h"

#include "base/memory/buf.h"
#include "base/memory/xalloc.h"
#include "launch/program_file.h"
#include "launch/qemu/qemu_control.h"
#include "launch/source.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#ifndef ASSAY_RUNTIME_DIR
#define ASSAY_RUNTIME_DIR "/usr/local/lib"
#endif

#define DEVICE "assay_device.so"

int qemu_device_find(const char *given, char **path, struct error *err)
{
	static const char installed[] = ASSAY_RUNTIME_DIR "/assay/" DEVICE;
	char *own;
	int rc = 0;

	*path = given ? realpath(given, NULL) : NULL;
	if (given)
		return *path && program_file_is_there(*path)
		               ? 0
		               : error_set(err, ENOENT, "%s is not a readable file", given);
	own = program_file_own_directory();
	*path = xasprintf("%s/device/qemu/" DEVICE, own);
	if (!program_file_is_there(*path) && program_file_is_there(installed)) {
		free(*path);
		*path = xstrdup(installed);
	} else if (!program_file_is_there(*path)) {
		rc = error_set(err, ENOENT,
		               "the capture device is neither at %s nor at %s; build assay with "
		               "'meson configure -Ddevice=enabled' (Linux on x86-64) and install "
		               "it, or name the file with --device",
		               *path, installed);
	}
	free(own);
	return rc;
}

int qemu_trace_begin(struct qemu_trace *t, const char *output, struct error *err)
{
	const char *top = getenv("TMPDIR");
	struct stat st;

	*t = (struct qemu_trace){0};
	if (output) {
		if (!lstat(output, &st))
			return error_set(err, EEXIST,
			                 "%s exists already; remove it, or name another directory",
			                 output);
		t->path = xstrdup(output);
		return 0;
	}
	/* 0700. A disk, since a stream may be larger than memory. */
	t->temporary = xasprintf("%s/assay-qemu-XXXXXX", top && *top ? top : "/var/tmp");
	if (!mkdtemp(t->temporary)) {
		int rc = error_set(err, errno,
		                   "%s: the directory for the trace cannot be created: %s; name "
		                   "one with -o",
		                   t->temporary, strerror(errno));

		free(t->temporary);
		t->temporary = NULL;
		return rc;
	}
	t->path = xasprintf("%s/trace", t->temporary);
	return 0;
}

static void remove_files(const char *directory)
{
	DIR *dir = opendir(directory);
	const struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		closedir(dir);
	rmdir(directory);
}

void qemu_trace_end(struct qemu_trace *t)
{
	if (t->temporary) {
		remove_files(t->path);
		rmdir(t->temporary);
	}
	free(t->temporary);
	free(t->path);
	*t = (struct qemu_trace){0};
}

/* Adds ",NAME=VALUE"; QEMU reads two commas as one comma. */
static void add_option(struct buf *text, const char *name, const char *value)
{
	if (!value)
		return;
	if (*name)
		buf_addf(text, ",%s=", name);
	for (; *value; value++)
		buf_puts(text, *value == ',' ? ",," : (char[]){*value, 0});
}

static char *plugin_text(const struct qemu_run_options *o)
{
	struct buf text = {0};

	add_option(&text, "", o->device);
	add_option(&text, "out", o->trace);
	add_option(&text, "names", o->names);
	add_option(&text, "mode", o->mode);
	add_option(&text, "sample", o->sample);
	add_option(&text, "symbols", o->symbols);
	add_option(&text, "mem", o->memory);
	add_option(&text, "stop", o->stop);
	add_option(&text, "start", o->start);
	add_option(&text, "end", o->end);
	add_option(&text, "clock", o->clock);
	add_option(&text, "quiet", "on");
	return text.data;
}

static void look_at(struct qemu_run_result *result, const char *trace)
{
	DIR *dir = opendir(trace);
	const struct dirent *entry;
	struct stat st;

	while (dir && (entry = readdir(dir))) {
		result->trace |= !strcmp(entry->d_name, "metadata");
		result->events |= !strncmp(entry->d_name, "stream_", strlen("stream_")) &&
		                  !fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) &&
		                  st.st_size;
	}
	if (dir)
		closedir(dir);
}

int qemu_run(const struct qemu_run_options *o, struct qemu_run_result *result, struct error *err)
{
	static const struct source_ops none = {0};
	struct source source = {.ops = &none};
	char *plugin = plugin_text(o);
	char **words = qemu_command_with(&o->command, o->words, plugin);
	struct termios terminal;
	bool has_terminal = !tcgetattr(STDIN_FILENO, &terminal);
	int rc;

	*result = (struct qemu_run_result){0};
	rc = command_run(words, &source, &result->run, err);
	/* QEMU changes the modes of the terminal, and restores them unless it is killed. */
	if (has_terminal && tcgetpgrp(STDIN_FILENO) == getpgrp())
		tcsetattr(STDIN_FILENO, TCSANOW, &terminal);
	if (!rc)
		look_at(result, o->trace);
	if (!rc && result->run.exit_status != -1)
		qemu_control_remove(o->trace);
	free(words);
	free(plugin);
	return rc;
}
