/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/doctor/doctor_tags.h"

#include "cmd/doctor/doctor_directory.h"
#include "launch/tags/tags_runtime.h"
#include "source/runtime/tag_rings.h"

#define GROUP "event tags"

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
		             "apt install g++ gcc-12-plugin-dev");
	else
		findings_add(f, GROUP, FINDING_OK, "compiler's plugin", xstrdup(runtime.plugin),
		             NULL, NULL);
	tags_runtime_done(&runtime);
	doctor_directory(f, &directory);
}
