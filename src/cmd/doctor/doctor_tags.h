/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * doctor_tags: checks what `assay tags` can do on this machine.
 *
 * No function fails. One thread. Uses: session.
 */
#ifndef ASSAY_CMD_DOCTOR_DOCTOR_TAGS_H
#define ASSAY_CMD_DOCTOR_DOCTOR_TAGS_H

#include "cmd/doctor/findings.h"

/* Adds findings on the compiler plugin, and on the directory for recordings. */
void doctor_tags(struct findings *f);

#endif
