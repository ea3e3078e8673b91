/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/doctor_directory.h"

#include <stdbool.h>
#include <string.h>
#include <sys/statvfs.h>

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

void doctor_directory(struct findings *f, const struct doctor_directory *d)
{
	char *mend = xasprintf("export %s=DIRECTORY", d->kind->variable);
	struct error err = {0};
	uint64_t room = 0;
	char *path, *what;
	bool low;

	if (shared_directory(d->kind, &path, false, &err)) {
		findings_add(f, d->group, FINDING_MISSING, d->name, xstrdup(err.text), d->no_place,
		             mend);
	} else {
		low = room_of(path, &room) && room < (uint64_t)d->megabytes << 20;
		/* No figure: it would be another one the next time. */
		what = low ? xasprintf("%s, with less than %u MB free", path, d->megabytes)
		           : xstrdup(path);
		findings_add(f, d->group, low ? FINDING_LIMITED : FINDING_OK, d->name, what,
		             low ? d->low : NULL, low ? mend : NULL);
		free(path);
	}
	free(mend);
}
