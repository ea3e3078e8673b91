/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/doctor_calls.h"

#include "session/calls_runtime.h"
#include "source/call_table.h"

#include <stdbool.h>
#include <string.h>
#include <sys/statvfs.h>

#define TABLE_BYTES (UINT64_C(256) << 20) /* a process may fill, unless told otherwise */

static void add_library(struct findings *f)
{
	struct error err = {0};
	char *path;

	if (calls_runtime_find(&path, &err))
		findings_add(f, "call paths", FINDING_MISSING, "runtime library", xstrdup(err.text),
		             "assay calls cannot run a program", "ninja -C build install");
	else
		findings_add(f, "call paths", FINDING_OK, "runtime library", path, NULL, NULL);
}

static void add_waiting(struct findings *f)
{
	int error = calls_runtime_waiting();

	if (!error)
		findings_add(f, "call paths", FINDING_OK, "waiting",
		             xstrdup("switches away from a CPU are seen: waiting is told apart"),
		             NULL, NULL);
	else
		findings_add(f, "call paths", FINDING_LIMITED, "waiting",
		             xasprintf("perf_event_open: %s", strerror(-error)),
		             "assay calls counts waiting as time of the function that waits",
		             "sysctl kernel.perf_event_paranoid=2");
}

/* The directory, or the nearest one above it that is there. */
static bool room_of(const char *path, uint64_t *bytes)
{
	char *at = xstrdup(path), *slash;
	struct statvfs fs;
	bool found = !statvfs(at, &fs);

	while (!found && (slash = strrchr(at, '/')) && slash != at) {
		*slash = '\0';
		found = !statvfs(at, &fs);
	}
	free(at);
	if (found)
		*bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
	return found;
}

static void add_directory(struct findings *f)
{
	struct error err = {0};
	uint64_t room = 0;
	char *path;
	bool low;

	if (call_table_directory(&path, false, &err)) {
		findings_add(f, "call paths", FINDING_MISSING, "tables", xstrdup(err.text),
		             "assay calls finds no place for its tables",
		             "export ASSAY_CALLS_DIR=DIRECTORY");
		return;
	}
	low = room_of(path, &room) && room < TABLE_BYTES;
	/* No figure: it would be another one the next time. */
	findings_add(f, "call paths", low ? FINDING_LIMITED : FINDING_OK, "tables",
	             xasprintf("%s%s", path, low ? ", with less than 256 MB free" : ""),
	             low ? "many paths find no room: they are counted as (other)" : NULL,
	             low ? "export ASSAY_CALLS_DIR=DIRECTORY" : NULL);
	free(path);
}

void doctor_calls(struct findings *f)
{
	add_library(f);
	add_waiting(f);
	add_directory(f);
}
