/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Answers of a receiver of OTLP profiles with any bytes. The message is short and can be printed;
 * an answer that cannot be read leaves nothing.
 */
#include "format/otlp/otlp_answer.h"

#include <stdlib.h>

/* The message has at most 200 bytes of the answer, and an escape is at most 4 times as long. */
#define MESSAGE_MAX 800

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct otlp_answer a;
	bool good = otlp_answer_read(bytes, size, &a);

	if (!good && (a.rejected || a.message.size))
		abort();
	if (a.message.size > MESSAGE_MAX)
		abort();
	for (size_t i = 0; i < a.message.size; i++)
		if ((unsigned char)a.message.data[i] < ' ' || a.message.data[i] == 0x7f)
			abort();
	buf_done(&a.message);
	return 0;
}
