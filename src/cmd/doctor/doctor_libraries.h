/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * doctor_libraries: frame pointers and debug info of the libraries that most
 * programs use.
 *
 * Reads their code, which takes most of doctor's time. Nothing fails: what is
 * not installed is left out. One thread. Uses: base, image.
 */
#ifndef ASSAY_CMD_DOCTOR_DOCTOR_LIBRARIES_H
#define ASSAY_CMD_DOCTOR_DOCTOR_LIBRARIES_H

#include "cmd/doctor/findings.h"

/* A finding for each of them. */
void doctor_libraries(struct findings *f);

#endif
