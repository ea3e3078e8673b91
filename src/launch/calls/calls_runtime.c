/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "launch/calls/calls_runtime.h"

#include "base/memory/xalloc.h"
#include "image/elf/elf_imports.h"
#include "launch/program_file.h"
#include "source/perf/perf_events.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#ifndef ASSAY_RUNTIME_DIR
#define ASSAY_RUNTIME_DIR "/usr/local/lib"
#endif

#define FLAGS "'pkg-config --cflags --libs assay-calls'"

/* The dynamic linker separates names at spaces and colons. */
static int check_name(char **path, struct error *err)
{
	int rc = 0;

	if (strpbrk(*path, " :\t\n"))
		rc = error_set(err, EINVAL,
		               "%s cannot be preloaded: its path has a space or a colon; copy it "
		               "elsewhere and name it in $ASSAY_CALLS_LIBRARY",
		               *path);
	if (rc) {
		free(*path);
		*path = NULL;
	}
	return rc;
}

int calls_runtime_find(char **path, struct error *err)
{
	const char *chosen = getenv("ASSAY_CALLS_LIBRARY");
	char *own, *places[3];
	int rc = 0;

	*path = NULL;
	if (chosen && *chosen) {
		*path = realpath(chosen, NULL);
		if (*path && program_file_is_there(*path))
			return check_name(path, err);
		free(*path);
		*path = NULL;
		return error_set(err, ENOENT,
		                 "$ASSAY_CALLS_LIBRARY is %s, which cannot be read; unset it, or "
		                 "name the " CALLS_RUNTIME_NAME " of this assay",
		                 chosen);
	}
	own = program_file_own_directory();
	places[0] = xasprintf("%s/runtime/" CALLS_RUNTIME_NAME, own);
	places[1] = xasprintf("%s/" CALLS_RUNTIME_NAME, own);
	places[2] = xstrdup(ASSAY_RUNTIME_DIR "/" CALLS_RUNTIME_NAME);
	for (size_t i = 0; i < 3 && !*path; i++)
		if (program_file_is_there(places[i]))
			*path = xstrdup(places[i]);
	if (!*path)
		rc = error_set(err, ENOENT,
		               CALLS_RUNTIME_NAME " was not found: it is neither at %s nor %s "
		                                  "nor %s; install it, or name it in "
		                                  "$ASSAY_CALLS_LIBRARY",
		               places[0], places[1], places[2]);
	for (size_t i = 0; i < 3; i++)
		free(places[i]);
	free(own);
	return rc ? rc : check_name(path, err);
}

int calls_runtime_waiting(void)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
	                               .size = sizeof(attr),
	                               .config = PERF_COUNT_SW_DUMMY,
	                               .exclude_kernel = 1,
	                               .context_switch = 1,
	                               .sample_id_all = 1,
	                               .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME};
	int fd = perf_event_open_fd(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

/* For such programs the kernel makes the dynamic linker ignore preloaded libraries. */
static bool has_privileges(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return false;
	if ((st.st_mode & S_ISUID) && st.st_uid != geteuid())
		return true;
	if ((st.st_mode & S_ISGID) && st.st_gid != getegid())
		return true;
	return geteuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0;
}

static int why_elf(const char *path, const char *name, const struct elf_imports *e,
                   struct error *err)
{
	if (e->foreign)
		return error_set(
		        err, ENOEXEC,
		        "no calls were counted: %s is for another machine than " CALLS_RUNTIME_NAME
		        ", which cannot be loaded into it; build it for "
		        "this machine",
		        name);
	if (e->is_static)
		return error_set(
		        err, ENOEXEC,
		        "no calls were counted: %s is linked statically, so no library can "
		        "be preloaded into it; link it dynamically, with the flags of " FLAGS,
		        name);
	if (has_privileges(path))
		return error_set(err, EPERM,
		                 "no calls were counted: %s runs with other rights than yours "
		                 "(setuid, setgid or capabilities), so no library is preloaded; "
		                 "run it as its owner, or run a copy without these rights",
		                 name);
	if (!e->imports)
		return error_set(
		        err, ENOEXEC,
		        "no calls were counted: neither %s nor a program that it started "
		        "is built with -finstrument-functions; build it with the flags of " FLAGS,
		        name);
	return error_set(
	        err, ENODATA,
	        "no calls were counted, though %s is built for it: no instrumented function was "
	        "entered, or the user of the program may not read " CALLS_RUNTIME_NAME
	        ", or the program removed LD_PRELOAD or ASSAY_CALLS_DIR from its environment, or "
	        "it changed its user in a network namespace of its own, where assay cannot hand "
	        "out a table (name a directory of that user in $ASSAY_CALLS_DIR)",
	        name);
}

/* True for a program with hooks that can be preloaded into. */
static bool is_built_for_it(const char *path)
{
	struct elf_imports e;

	return !elf_imports_read(&e, path, CALLS_RUNTIME_HOOK, NULL) && e.imports;
}

/* The reason from the program, or from a program that it starts. */
static int why_program(char *const command[], const char *path, int status, struct error *err)
{
	struct elf_imports e;
	char *inner = NULL;
	const char *started = NULL, *name = command[0];
	int rc;

	if (!path || !is_built_for_it(path))
		started = program_file_started(command, is_built_for_it, &inner);
	if (started)
		name = started;
	if (started && status)
		rc = program_file_not_started("no calls were counted", command[0], started, status,
		                              err);
	else if ((!path && !started) ||
	         elf_imports_read(&e, started ? inner : path, CALLS_RUNTIME_HOOK, NULL))
		rc = error_set(err, ENOEXEC,
		               "no calls were counted: no program that %s started is built with "
		               "-finstrument-functions; build the program with the flags "
		               "of " FLAGS,
		               name);
	else
		rc = why_elf(started ? inner : path, name, &e, err);
	free(inner);
	return rc;
}

int calls_runtime_why(char *const command[], const char *directory, int status, struct error *err)
{
	char *path = program_file_find(command[0]),
	     *interpreter = path ? program_file_interpreter(path) : NULL;
	int rc;

	if (interpreter)
		rc = error_set(
		        err, ENOEXEC,
		        "no calls were counted: %s is a script, for %s, and neither that nor "
		        "a program that it started is built with -finstrument-functions; "
		        "build the program with the flags of " FLAGS,
		        command[0], interpreter);
	else if (path && is_built_for_it(path) && program_file_is_full(directory))
		rc = error_set(err, ENOSPC,
		               "no calls were counted: the disk of %s is full; name a "
		               "directory with free space in $ASSAY_CALLS_DIR",
		               directory);
	else
		rc = why_program(command, path, status, err);
	free(interpreter);
	free(path);
	return rc;
}
