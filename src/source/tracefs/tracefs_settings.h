/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tracefs_settings: files of tracefs that are changed for a while: what they
 * held is kept, and put back in the end, whatever the end is.
 *
 * tracefs_settings_begin(); tracefs_settings_change() for each file;
 * tracefs_settings_end() puts all back, the last changed first. A guard, forked
 * before the first change, does the same if this process ends without it
 * (killed, crashed): it shares the list. The guard ignores signals and ends with
 * this process. 0 or -errno, with a sentence that names the file. One thread.
 * Uses: base.
 */
#ifndef ASSAY_SOURCE_TRACEFS_TRACEFS_SETTINGS_H
#define ASSAY_SOURCE_TRACEFS_TRACEFS_SETTINGS_H

#include "base/error.h"

#include <stdbool.h>
#include <sys/types.h>

struct tracefs_setting_list;

struct tracefs_settings {
	char directory[512];               /* of the instance, or tracefs's own */
	struct tracefs_setting_list *list; /* memory that the guard shares */
	pid_t guard;
	int alive; /* a pipe's end: closed when we are gone */
};

/* instance: the directory is ours, and is removed in the end. */
int tracefs_settings_begin(struct tracefs_settings *s, const char *directory, bool instance,
                           struct error *err);
void tracefs_settings_end(struct tracefs_settings *s);
/* Ends without touching anything: nothing was changed. */
void tracefs_settings_abandon(struct tracefs_settings *s);

/* Writes `value`, once what was there is kept. Unknown files are an error unless `optional`. */
int tracefs_settings_change(struct tracefs_settings *s, const char *file, const char *value,
                            bool optional, struct error *err);

/* Writes without keeping: a file that was changed before. append: adds to what it holds. */
int tracefs_settings_write(const struct tracefs_settings *s, const char *file, const char *value,
                           bool append, struct error *err);

/* The file's bytes, a newline at the end cut off; false: it cannot be read. */
bool tracefs_settings_read(const struct tracefs_settings *s, const char *file, char *text,
                           size_t room);

/* Removes what processes that are gone left behind: instances "assay-PID". */
void tracefs_settings_sweep(const char *tracefs);

#endif
