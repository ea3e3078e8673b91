/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The text of a histogram of waits in a store: what was read is written and read as the same. */
#include "base/memory/xalloc.h"
#include "store/store_wait_columns.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	char *text = xstrndup((const char *)bytes, size);
	struct call_times once = {0}, twice = {0};
	struct buf first = {0}, second = {0};

	store_wait_times_add(text, &once);
	store_wait_times_put(&once, &first);
	if (!store_wait_times_add(buf_text(&first), &twice) || twice.timed != once.timed)
		abort();
	store_wait_times_put(&twice, &second);
	if (strcmp(buf_text(&first), buf_text(&second)) != 0)
		abort();
	call_times_done(&once);
	call_times_done(&twice);
	buf_done(&first);
	buf_done(&second);
	free(text);
	return 0;
}
