/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/doctor/doctor_tags.h"

#include "cmd/doctor/doctor_directory.h"
#include "launch/program_file.h"
#include "launch/tags/tags_files.h"
#include "launch/tags/tags_runtime.h"
#include "source/runtime/tag_rings.h"

#include <stdlib.h>

#define GROUP "event tags"

/* The recordings of programs in the directory, by the state of their processes. */
static void add_processes(struct findings *f)
{
	tag_rings_list list = {0};
	unsigned running = 0;
	struct error err = {0};
	char *directory, *what;
	bool full;

	/* The directory's own finding has the error. */
	if (tag_rings_directory(&directory, false, &err))
		return;
	if (!tags_files_all(&list, &err)) {
		vec_each (file, &list)
			running += file->file.running;
		full = running >= ASSAY_TAGS_FILES_MOST && !getenv(tag_rings_kind.variable);
		what = xasprintf("%u running, %zu ended", running, list.count - running);
		findings_add(f, GROUP, full ? FINDING_LIMITED : FINDING_OK, "recorded processes",
		             what, full ? "programs that start now record no event tags" : NULL,
		             full ? "export ASSAY_TAGS_DIR=DIRECTORY" : NULL);
	}
	tag_rings_list_done(&list);
	free(directory);
}

void doctor_tags(struct findings *f)
{
	const struct doctor_directory directory = {
	        .kind = &tag_rings_kind,
	        .group = GROUP,
	        .name = "recordings",
	        .megabytes = 64,
	        .no_place = "assay tags has no directory for its recordings",
	        .low = "events that do not fit are discarded and counted"};
	struct tags_runtime runtime;
	struct error err = {0};

	if (tags_runtime_find(&runtime, &err))
		findings_add(f, GROUP, FINDING_MISSING, "compiler's plugin", xstrdup(err.text),
		             "no program can be built with event tags",
		             program_file_is_packaged() ? "apt-get install assay-gcc-plugin"
		                                        : "apt-get install g++ gcc-12-plugin-dev");
	else
		findings_add(f, GROUP, FINDING_OK, "compiler's plugin", xstrdup(runtime.plugin),
		             NULL, NULL);
	tags_runtime_done(&runtime);
	doctor_directory(f, &directory);
	add_processes(f);
}
