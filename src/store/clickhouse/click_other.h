/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * click_other: the call path that stands for rare ones on a server: one frame named [other].
 *
 * Its ids are those of the same rows of merged windows of files (store_retention_merge.c).
 * Stateless. Uses: base, image.
 */
#ifndef ASSAY_STORE_CLICKHOUSE_CLICK_OTHER_H
#define ASSAY_STORE_CLICKHOUSE_CLICK_OTHER_H

#include <stdint.h>

#define CLICK_OTHER "[other]"

struct click_other {
	uint64_t name, image, frame, stack;
};

struct click_other click_other(void);

#endif
