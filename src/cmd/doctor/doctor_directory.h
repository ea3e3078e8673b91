/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * doctor_directory: checks the directory of the runtime's files, and its free space.
 *
 * No function fails. One thread. Uses: source.
 */
#ifndef ASSAY_CMD_DOCTOR_DOCTOR_DIRECTORY_H
#define ASSAY_CMD_DOCTOR_DOCTOR_DIRECTORY_H

#include "cmd/doctor/findings.h"
#include "source/runtime/runtime_files.h"

struct doctor_directory {
	const struct shared_kind *kind;
	const char *group, *name;
	unsigned megabytes; /* default size limit of one process */
	const char *no_place,
	        *low; /* effect of a missing directory; effect of too little free space */
};

void doctor_directory(struct findings *f, const struct doctor_directory *d);

#endif
