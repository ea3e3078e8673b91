/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * load_kind: the files that a command line names, and what each of them holds.
 *
 * Private to cmd/load. Names belong to the options. 0 or -errno. One thread. Uses: format.
 */
#ifndef ASSAY_CMD_LOAD_LOAD_KIND_H
#define ASSAY_CMD_LOAD_LOAD_KIND_H

#include "cmd/load/load.h"

/* 0: the file can be read as samples, according to its first bytes. */
int load_kind_check_samples(const char *path, struct error *err);

#endif
