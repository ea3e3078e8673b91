/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/protobuf_write.h"

#include <string.h>

enum { WIRE_VARINT, WIRE_FIXED64, WIRE_SIZED };

static void put_key(struct buf *b, unsigned field, unsigned wire)
{
	protobuf_varint(b, (uint64_t)field << 3 | wire);
}

void protobuf_varint(struct buf *b, uint64_t v)
{
	char bytes[10];
	size_t count = 0;

	do {
		bytes[count++] = (char)((v & 0x7f) | (v > 0x7f ? 0x80 : 0));
		v >>= 7;
	} while (v);
	buf_add(b, bytes, count);
}

void protobuf_number(struct buf *b, unsigned field, uint64_t v)
{
	if (v)
		protobuf_key_number(b, field, v);
}

void protobuf_key_number(struct buf *b, unsigned field, uint64_t v)
{
	put_key(b, field, WIRE_VARINT);
	protobuf_varint(b, v);
}

void protobuf_fixed64(struct buf *b, unsigned field, uint64_t v)
{
	char bytes[8];

	if (!v)
		return;
	put_key(b, field, WIRE_FIXED64);
	for (unsigned i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)(v >> 8 * i);
	buf_add(b, bytes, sizeof(bytes));
}

void protobuf_bytes(struct buf *b, unsigned field, const void *bytes, size_t size)
{
	put_key(b, field, WIRE_SIZED);
	protobuf_varint(b, size);
	buf_add(b, bytes, size);
}

void protobuf_text(struct buf *b, unsigned field, const char *text)
{
	protobuf_bytes(b, field, text, strlen(text));
}

void protobuf_message(struct buf *b, unsigned field, struct buf *message)
{
	protobuf_bytes(b, field, buf_text(message), message->size);
	buf_clear(message);
}
