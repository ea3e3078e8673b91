/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/doctor/doctor_calls.h"

#include "cmd/doctor/doctor_directory.h"
#include "launch/calls/calls_runtime.h"
#include "launch/program_file.h"
#include "source/runtime/call_table.h"

#include <errno.h>
#include <string.h>

static void add_library(struct findings *f)
{
	struct error err = {0};
	char *path;

	if (calls_runtime_find(&path, &err))
		findings_add(f, "call paths", FINDING_MISSING, "runtime library", xstrdup(err.text),
		             "assay calls cannot run a program",
		             program_file_is_packaged() ? "apt-get install --reinstall assay"
		                                        : "ninja -C build install");
	else
		findings_add(f, "call paths", FINDING_OK, "runtime library", path, NULL, NULL);
}

static void add_waiting(struct findings *f)
{
	int error = calls_runtime_waiting();

	if (!error)
		findings_add(f, "call paths", FINDING_OK, "waiting",
		             xstrdup("context switches are recorded: waiting time is separate"),
		             NULL, NULL);
	else
		findings_add(f, "call paths", FINDING_LIMITED, "waiting",
		             xasprintf("perf_event_open: %s", strerror(-error)),
		             "assay calls counts waiting time as time of the function",
		             /* Other reasons for a refusal are reported under "sampling". */
		             error == -EACCES ? "sysctl kernel.perf_event_paranoid=2" : NULL);
}

void doctor_calls(struct findings *f)
{
	const struct doctor_directory tables = {
	        .kind = &call_table_kind,
	        .group = "call paths",
	        .name = "tables",
	        .megabytes = 256,
	        .no_place = "assay calls has no directory for its tables",
	        .low = "paths that do not fit are counted as (other)"};

	add_library(f);
	add_waiting(f);
	doctor_directory(f, &tables);
}
