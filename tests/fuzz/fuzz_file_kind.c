/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as the beginning of a file, which may go on or end there: both have a kind. */
#include "format/file_kind.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	for (int whole = 0; whole < 2; whole++) {
		struct file_head head = {.whole = whole};
		enum file_kind kind;

		buf_add(&head.bytes, bytes, size);
		kind = file_kind_of_head(&head);
		if (kind > FILE_JITDUMP || (kind == FILE_EMPTY) != !size ||
		    (kind >= FILE_STREAM && kind <= FILE_DIRECTORY) || kind == FILE_CTF)
			abort();
		file_head_done(&head);
	}
	return 0;
}
