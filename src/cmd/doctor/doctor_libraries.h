/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * doctor_libraries: checks common libraries for frame pointers and debug info.
 *
 * It reads their code, which needs most of doctor's time. No function fails: libraries that are not
 * installed are skipped. One thread. Uses: base, image.
 */
#ifndef ASSAY_CMD_DOCTOR_DOCTOR_LIBRARIES_H
#define ASSAY_CMD_DOCTOR_DOCTOR_LIBRARIES_H

#include "cmd/doctor/findings.h"

/* Adds a finding for each installed library. */
void doctor_libraries(struct findings *f);

#endif
