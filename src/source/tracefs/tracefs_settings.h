/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tracefs_settings: temporary changes to files of tracefs. The old contents are stored and always
 * restored.
 *
 * tracefs_settings_begin(); tracefs_settings_change() for each file; tracefs_settings_end()
 * restores all files in reverse order. A guard, forked before the first change, restores them if
 * this process ends before that (killed, crashed); it shares the list in memory. The guard ignores
 * signals and ends with this process. Functions return 0 or -errno, with a sentence that names the
 * file. One thread. Uses: base.
 */
#ifndef ASSAY_SOURCE_TRACEFS_TRACEFS_SETTINGS_H
#define ASSAY_SOURCE_TRACEFS_TRACEFS_SETTINGS_H

#include "base/error.h"

#include <stdbool.h>
#include <sys/types.h>

struct tracefs_setting_list;

struct tracefs_settings {
	char directory[512];               /* directory of the instance, or the tracefs directory */
	struct tracefs_setting_list *list; /* memory that the guard shares */
	pid_t guard;
	int alive; /* one end of a pipe, which is closed when this process ends */
};

/* instance: the directory belongs to this trace and is removed at the end. */
int tracefs_settings_begin(struct tracefs_settings *s, const char *directory, bool instance,
                           struct error *err);
void tracefs_settings_end(struct tracefs_settings *s);
/* Ends without restoring anything, because nothing was changed. */
void tracefs_settings_abandon(struct tracefs_settings *s);

/* Stores the old contents, then writes `value`. A missing file is an error unless `optional`. */
int tracefs_settings_change(struct tracefs_settings *s, const char *file, const char *value,
                            bool optional, struct error *err);

/* Writes to a file whose contents were stored before. append: adds to the contents. */
int tracefs_settings_write(const struct tracefs_settings *s, const char *file, const char *value,
                           bool append, struct error *err);

/* Reads a file without the newline at its end; false: it cannot be read. */
bool tracefs_settings_read(const struct tracefs_settings *s, const char *file, char *text,
                           size_t room);

/* Removes instances "assay-PID" of processes that no longer exist. */
void tracefs_settings_sweep(const char *tracefs);

#endif
