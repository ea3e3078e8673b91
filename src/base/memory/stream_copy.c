/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/memory/stream_copy.h"

#include <string.h>

#ifndef __x86_64__
void stream_copy(void *to, const void *from, size_t size)
{
	memcpy(to, from, size);
}
#endif
