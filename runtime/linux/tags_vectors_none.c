/* SPDX-License-Identifier: MIT */
/* tags_vectors: where there are no inline triggers, nothing is to be saved. */
#include "linux/tags_process.h"

void tags_vectors_begin(void)
{
}
