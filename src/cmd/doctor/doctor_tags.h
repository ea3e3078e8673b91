/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * doctor_tags: what `assay tags` can do here.
 *
 * Nothing fails. One thread. Uses: session.
 */
#ifndef ASSAY_CMD_DOCTOR_DOCTOR_TAGS_H
#define ASSAY_CMD_DOCTOR_DOCTOR_TAGS_H

#include "cmd/doctor/findings.h"

/* Findings on the compiler's plugin, and on the directory of what processes record. */
void doctor_tags(struct findings *f);

#endif
