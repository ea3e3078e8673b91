/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * doctor_directory: where the runtime in programs puts its files, and what room is there.
 *
 * Nothing fails. One thread. Uses: source.
 */
#ifndef ASSAY_CMD_DOCTOR_DOCTOR_DIRECTORY_H
#define ASSAY_CMD_DOCTOR_DOCTOR_DIRECTORY_H

#include "cmd/doctor/findings.h"
#include "source/runtime/runtime_files.h"

struct doctor_directory {
	const struct shared_kind *kind;
	const char *group, *name;
	unsigned megabytes; /* what one process may fill, unless told otherwise */
	const char *no_place,
	        *low; /* what it costs that there is none; that there is little room */
};

void doctor_directory(struct findings *f, const struct doctor_directory *d);

#endif
