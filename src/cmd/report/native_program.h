/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * native_program: the program of --native, which is that of COMMAND built without instrumenting.
 *
 * Uses: everything.
 */
#ifndef ASSAY_CMD_REPORT_NATIVE_PROGRAM_H
#define ASSAY_CMD_REPORT_NATIVE_PROGRAM_H

#include "base/error.h"
#include "view/methods/sizes_document.h"

/* Reads the sizes of both; each is found as execvp() does. 0 or -errno. */
int native_program_sizes(struct program_sizes *sizes, const char *program, const char *native,
                         struct error *err);

#endif
