/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/doctor/doctor_directory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* Free space of the directory, or of its nearest existing parent; -errno: it is not writable. */
static int room_of(const char *path, uint64_t *bytes)
{
	char *at = xstrdup(path), *slash;
	struct statvfs fs;
	bool found = !statvfs(at, &fs);
	int rc = 0;

	while (!found && (slash = strrchr(at, '/')) && slash != at) {
		*slash = '\0';
		found = !statvfs(at, &fs);
	}
	*bytes = found ? (uint64_t)fs.f_bavail * fs.f_frsize : UINT64_MAX;
	if (found && faccessat(AT_FDCWD, at, W_OK | X_OK, AT_EACCESS))
		rc = -errno;
	free(at);
	return rc;
}

static void add_missing(struct findings *f, const struct doctor_directory *d, char *what,
                        const char *mend)
{
	findings_add(f, d->group, FINDING_MISSING, d->name, what, d->no_place, mend);
}

void doctor_directory(struct findings *f, const struct doctor_directory *d)
{
	char *mend = xasprintf("export %s=DIRECTORY", d->kind->variable);
	struct error err = {0};
	uint64_t room = 0;
	char *path, *what;
	bool low;
	int rc;

	if (shared_directory(d->kind, &path, false, &err)) {
		add_missing(f, d, xstrdup(err.text), mend);
	} else if ((rc = room_of(path, &room))) {
		add_missing(f, d, xasprintf("%s cannot be written to: %s", path, strerror(-rc)),
		            mend);
		free(path);
	} else {
		low = room < (uint64_t)d->megabytes << 20;
		/* The free space is not printed, since it differs each time. */
		what = low ? xasprintf("%s, with less than %u MB free", path, d->megabytes)
		           : xstrdup(path);
		findings_add(f, d->group, low ? FINDING_LIMITED : FINDING_OK, d->name, what,
		             low ? d->low : NULL, low ? mend : NULL);
		free(path);
	}
	free(mend);
}
