/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "launch/tags/tags_runtime.h"

#include "base/memory/xalloc.h"
#include "format/ctf/names_file.h"
#include "launch/program_file.h"

#include <errno.h>
#include <stdlib.h>

#ifndef ASSAY_RUNTIME_DIR
#define ASSAY_RUNTIME_DIR "/usr/local/lib"
#endif
#ifndef ASSAY_INCLUDE_DIR
#define ASSAY_INCLUDE_DIR "/usr/local/include"
#endif
#ifndef ASSAY_SOURCE_INCLUDE_DIR
#define ASSAY_SOURCE_INCLUDE_DIR ASSAY_INCLUDE_DIR
#endif

#define PLUGIN "assay_tags.so"
#define HEADER "assay/tags.h"
#define FLAGS "'assay tags flags'"

/* True if DIRECTORY/NAME exists. */
static bool holds(const char *directory, const char *name)
{
	char *path = xasprintf("%s/%s", directory, name);
	bool there = program_file_is_there(path);

	free(path);
	return there;
}

static bool is_complete(const struct tags_runtime *r)
{
	return program_file_is_there(r->plugin) && holds(r->libraries, TAGS_RUNTIME_LIBRARY) &&
	       holds(r->include, HEADER);
}

int tags_runtime_find(struct tags_runtime *r, struct error *err)
{
	char *own = program_file_own_directory();
	int rc = 0;

	*r = (struct tags_runtime){.plugin = xasprintf("%s/plugin/gcc/" PLUGIN, own),
	                           .include = xstrdup(ASSAY_SOURCE_INCLUDE_DIR),
	                           .libraries = xasprintf("%s/runtime", own)};
	if (!is_complete(r)) {
		char *build = r->plugin;

		free(r->include);
		free(r->libraries);
		*r = (struct tags_runtime){.plugin = xstrdup(ASSAY_RUNTIME_DIR "/assay/" PLUGIN),
		                           .include = xstrdup(ASSAY_INCLUDE_DIR),
		                           .libraries = xstrdup(ASSAY_RUNTIME_DIR)};
		if (!is_complete(r) && program_file_is_packaged())
			rc = error_set(err, ENOENT,
			               "the compiler's plugin is not at %s; install the package "
			               "assay-gcc-plugin",
			               r->plugin);
		else if (!is_complete(r))
			rc = error_set(err, ENOENT,
			               "the compiler's plugin is neither at %s nor, "
			               "with " TAGS_RUNTIME_LIBRARY " in %s and " HEADER
			               " in %s, at %s; build assay with GCC "
			               "and its plugin headers (Debian: gcc-12-plugin-dev), and "
			               "install it",
			               build, r->libraries, r->include, r->plugin);
		free(build);
	}
	free(own);
	if (rc)
		tags_runtime_done(r);
	return rc;
}

void tags_runtime_done(struct tags_runtime *r)
{
	free(r->plugin);
	free(r->include);
	free(r->libraries);
	*r = (struct tags_runtime){0};
}

static bool has_names(const char *path)
{
	struct tag_names *names = tag_names_new();
	bool has = !names_file_read(names, path, NULL) && tag_names_count(names);

	tag_names_free(names);
	return has;
}

int tags_runtime_why(char *const command[], const char *directory, int status, struct error *err)
{
	const char *program = command[0], *started = NULL;
	char *path = program_file_find(program), *inner = NULL;
	char *interpreter = path ? program_file_interpreter(path) : NULL;
	int rc;

	if (!interpreter && (!path || !has_names(path)))
		started = program_file_started(command, has_names, &inner);
	if (interpreter)
		rc = error_set(err, ENOEXEC,
		               "no event tags were written: %s is a script, for %s, and neither "
		               "that nor a program that it started is built with the compiler's "
		               "plugin; build the program with the flags that " FLAGS " prints",
		               program, interpreter);
	else if (started && status)
		rc = program_file_not_started("no event tags were written", program, started,
		                              status, err);
	else if (!started && (!path || !has_names(path)))
		rc = error_set(err, ENOEXEC,
		               "no event tags were written: neither %s nor a program that it "
		               "started is built with the compiler's plugin; build the one in "
		               "question with the flags that " FLAGS " prints",
		               program);
	else if (program_file_is_full(directory))
		rc = error_set(err, ENOSPC,
		               "no event tags were written: the disk of %s is full; "
		               "name a directory with free space in $ASSAY_TAGS_DIR",
		               directory);
	else
		rc = error_set(
		        err, ENODATA,
		        "no event tags were written, though %s is built for it: its triggers are "
		        "not of the kind 'ring' (see " FLAGS "), or it is not linked with "
		        "-lassay-tags, or it reached no function with a trigger, or it removed "
		        "ASSAY_TAGS_DIR from its environment, or it changed its user in a network "
		        "namespace of its own, where assay cannot hand out a file",
		        started ? started : program);
	free(inner);
	free(interpreter);
	free(path);
	return rc;
}
