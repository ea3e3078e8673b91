/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tag_rings_internal: what tag_rings.c and tag_rings_read.c share. Uses: base.
 */
#ifndef ASSAY_SOURCE_TAG_RINGS_INTERNAL_H
#define ASSAY_SOURCE_TAG_RINGS_INTERNAL_H

#include "source/tag_rings.h"

/* Reads and checks the first page; the error names the file. */
int tag_rings_header_read(int fd, struct assay_tags_header *h, const char *path, struct error *err);

/* Packets that are not free, now. */
uint64_t tag_rings_used(struct tag_rings *rings);

#endif
