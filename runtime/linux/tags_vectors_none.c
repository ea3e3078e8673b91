/* SPDX-License-Identifier: MIT */
/* tags_vectors: without inline triggers no vector registers have to be saved. */
#include "linux/tags_process.h"

void tags_vectors_begin(void)
{
}
