/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/doctor/doctor_libraries.h"

#include "base/text/plural.h"
#include "image/unwind_table/frame_pointers.h"
#include "unwind/unwind.h"

#include <glob.h>
#include <stdio.h>
#include <string.h>

struct doctor_library {
	const char *name;
	const char *patterns[4]; /* the first file for this machine's architecture is used */
	const char *source;      /* Debian's source package */
	const char *debug;       /* Debian's package of debug info; NULL: none */
};

static const struct doctor_library libraries[] = {
        {"libc",
         {"/lib/*/libc.so.6", "/usr/lib64/libc.so.6", "/lib/libc.so.6"},
         "glibc",
         "libc6-dbg"},
        {"libstdc++", {"/usr/lib/*/libstdc++.so.6", "/usr/lib64/libstdc++.so.6"}, "gcc-12", NULL},
        {"openssl", {"/usr/lib/*/libcrypto.so.*", "/usr/lib64/libcrypto.so.*"}, "openssl", NULL},
        {"zlib",
         {"/lib/*/libz.so.1", "/usr/lib/*/libz.so.1", "/usr/lib64/libz.so.1"},
         "zlib",
         NULL},
        {"python", {"/usr/lib/*/libpython3*.so.1.0", "/usr/bin/python3"}, "python3.11", NULL},
        {"java", {"/usr/lib/jvm/*/lib/server/libjvm.so"}, "openjdk-17", NULL},
        {"node", {"/usr/lib/*/libnode.so.*", "/usr/bin/node"}, "nodejs", NULL},
        {"perl", {"/usr/lib/*/libperl.so.*", "/usr/bin/perl"}, "perl", NULL},
};

static bool survey_first(const struct doctor_library *library, char path[256],
                         struct frame_pointers *survey)
{
	bool found = false;

	for (size_t i = 0; i < 4 && library->patterns[i] && !found; i++) {
		glob_t matches;

		if (glob(library->patterns[i], 0, NULL, &matches))
			continue;
		for (size_t m = 0; m < matches.gl_pathc && !found; m++) {
			snprintf(path, 256, "%s", matches.gl_pathv[m]);
			found = !frame_pointers_survey(path, survey, NULL) && survey->functions;
		}
		globfree(&matches);
	}
	return found;
}

static void add_library(struct findings *f, const struct doctor_library *library)
{
	struct frame_pointers survey;
	enum finding_state state = FINDING_OK;
	const char *cost = NULL;
	char path[256], *mend = NULL;
	double share;
	bool debug, walked;

	if (!survey_first(library, path, &survey))
		return; /* not installed */
	share = (double)survey.framed / (double)survey.functions;
	debug = survey.debug_info || survey.debug_file[0];
	/* -g uses the file's unwind table, if assay can read it. */
	walked = survey.unwind_table && unwind_native();
	if (walked) {
		cost = debug ? NULL : "no source lines";
	} else if (share < 0.2) {
		state = FINDING_MISSING;
		cost = debug ? "call paths end at this library (-g)"
		             : "call paths end at this library (-g); no source lines";
	} else if (share < 0.8) {
		state = FINDING_LIMITED;
		cost = "some call paths through this library miss a caller (-g)";
	} else if (!debug) {
		cost = "no source lines";
	}
	if (!walked && share < 0.8)
		mend = xasprintf(
		        "DEB_CFLAGS_APPEND=-fno-omit-frame-pointer apt-get source --build %s",
		        library->source);
	else if (!debug && library->debug)
		mend = xasprintf("apt-get install %s", library->debug);
	findings_add(f, "libraries", state, library->name,
	             xasprintf("%s: %s unwind table, frame pointers in %.0f %% of %zu %s, "
	                       "%s debug info%s",
	                       path, survey.unwind_table ? "with" : "no", 100 * share,
	                       survey.functions, plural(survey.functions, "function", "functions"),
	                       debug ? "with" : "no", survey.symtab || debug ? "" : ", stripped"),
	             cost, mend);
	free(mend);
}

void doctor_libraries(struct findings *f)
{
	for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++)
		add_library(f, &libraries[i]);
}
