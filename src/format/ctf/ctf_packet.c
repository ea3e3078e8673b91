/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the head of a packet: CTF's packet header and packet context. Uses: base, tags.
 */
#include "format/ctf/ctf_packet.h"

#include <string.h>

/* Larger packets are damaged; recorders do not buffer as much. */
#define PACKET_BITS_MAX (1ull << 46)

/* Bounded access to the bytes of a head. */
struct packet_view {
	const uint8_t *bytes;
	uint64_t size;
	uint64_t after[CTF_STRINGS_MAX + 1]; /* bits: the end of each string; [0]: 0 */
};

static uint64_t at_of(const struct packet_view *v, const struct ctf_place *p)
{
	return v->after[p->strings] + p->at;
}

static uint64_t value_of(const struct packet_view *v, const struct ctf_place *p)
{
	uint8_t near[24] = {0};
	uint64_t at = at_of(v, p), byte = at / 8;
	uint64_t have = v->size - byte;

	memcpy(near, v->bytes + byte, have < 16 ? (size_t)have : 16);
	return ctf_bits(near, at % 8, p->bits, p->big);
}

static void text_of(const struct packet_view *v, const struct ctf_place *p, char into[17])
{
	uint64_t at = at_of(v, p), count = p->count;

	memset(into, 0, 17);
	if (!p->bits)
		return;
	if (!count) /* without the 0 at its end */
		count = (v->after[p->strings + 1] - at) / 8 - 1;
	memcpy(into, v->bytes + at / 8, count < 16 ? (size_t)count : 16);
}

/* Finds the ends of strings: 1; 0: not within these bytes; -1: invalid strings. */
static int find_strings(struct packet_view *v, const struct ctf_class_layout *c, const char **why)
{
	for (uint32_t i = 0; i < c->string_count; i++) {
		uint64_t at = at_of(v, &c->strings[i]) / 8, left = v->size > at ? v->size - at : 0;
		const uint8_t *from = v->bytes + at, *end;

		left = left < CTF_STRING_MAX ? left : CTF_STRING_MAX;
		end = left ? memchr(from, 0, (size_t)left) : NULL;
		if (!end && left < CTF_STRING_MAX)
			return 0;
		if (!end) {
			*why = "a string in its head is longer than 4 KB";
			return -1;
		}
		v->after[i + 1] = 8 * (uint64_t)(end + 1 - v->bytes);
	}
	return v->size >= (v->after[c->string_count] + c->fixed_bits + 7) / 8;
}

static uint64_t value_or(const struct packet_view *v, const struct ctf_place *p, uint64_t other)
{
	return p->bits ? value_of(v, p) : other;
}

static void read_context(const struct packet_view *v, const struct ctf_class_layout *c,
                         struct ctf_head *head)
{
	head->begin = value_or(v, &c->begin, 0);
	head->end = value_or(v, &c->end, 0);
	head->packet_bits = value_or(v, &c->packet, UINT64_MAX);
	head->content_bits = value_or(v, &c->content, head->packet_bits);
	if (!c->packet.bits && c->content.bits)
		head->packet_bits = head->content_bits;
	head->discarded = value_or(v, &c->discarded, 0);
	head->sequence = value_or(v, &c->sequence, 0);
	head->flags = (uint32_t)value_or(v, &c->flags, 0);
	head->pid = (int32_t)value_or(v, &c->pid, 0);
	head->tid = (int32_t)value_or(v, &c->tid, 0);
	text_of(v, &c->thread, head->thread);
	text_of(v, &c->process, head->process);
}

static const char *wrong_sizes(const struct ctf_class_layout *c, const struct ctf_head *head)
{
	uint64_t content = head->content_bits, packet = head->packet_bits;
	uint64_t first = head->first_bits;

	if (content == UINT64_MAX && packet == UINT64_MAX)
		return NULL;
	if (content < first - (c->first_bits - c->fixed_bits))
		return "content_size is less than the packet's own head";
	if (packet < content)
		return "packet_size is less than content_size";
	if (packet % 8 || !packet || packet > PACKET_BITS_MAX)
		return "packet_size is not a number of bytes, or is more than 8 TB";
	if (content > first && (content - first) % c->stride &&
	    (content - first) % c->stride != c->event_bits)
		return "content_size ends within an event";
	return NULL;
}

int ctf_head_read(const struct ctf_trace *t, const uint8_t *bytes, uint64_t size,
                  struct ctf_head *head, const char **why)
{
	struct packet_view v = {.bytes = bytes, .size = size};
	const struct ctf_class_layout *c;
	int rc;

	*head = (struct ctf_head){0};
	if (size < (t->header_bits + 7) / 8)
		return 0;
	if (t->magic.bits && value_of(&v, &t->magic) != ASSAY_CTF_MAGIC) {
		*why = "no packet begins here (its first bytes are not CTF's)";
		return -1;
	}
	head->class = t->stream_id.bits ? ctf_class_find(t, value_of(&v, &t->stream_id)) : 0;
	if (head->class == ID_NONE) {
		head->class = 0; /* the caller may continue with a stream without packets */
		*why = "the packet belongs to a stream that the metadata does not declare";
		return -1;
	}
	c = &t->classes.items[head->class];
	rc = find_strings(&v, c, why);
	if (rc <= 0)
		return rc;
	head->first_bits = v.after[c->string_count] + c->first_bits;
	read_context(&v, c, head);
	*why = wrong_sizes(c, head);
	return *why ? -1 : 1;
}
