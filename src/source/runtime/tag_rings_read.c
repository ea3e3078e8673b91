/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/runtime/runtime_files.h"
#include "source/runtime/tag_rings_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#define PACKET_LEAST 1024u /* bytes */
#define PACKET_MOST (1u << 20)
#define OFFSET_MOST (UINT64_C(1) << 48)

size_t tag_rings_read_at(int fd, void *into, size_t size, uint64_t offset)
{
	size_t done = 0;

	while (done < size) {
		ssize_t got = pread(fd, (char *)into + done, size - done, (off_t)(offset + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		done += (size_t)got;
	}
	return done;
}

/* ---- header, rings, text ------------------------------------------------ */

static bool within(uint64_t offset, uint64_t size, uint64_t end)
{
	return offset <= end && size <= end - offset;
}

int tag_rings_header_read(int fd, struct assay_tags_header *h, const char *path, struct error *err)
{
	uint64_t end;
	struct stat st;

	if (fstat(fd, &st) || tag_rings_read_at(fd, h, sizeof(*h), 0) != sizeof(*h) ||
	    memcmp(h->magic, ASSAY_TAGS_MAGIC, sizeof(h->magic)) != 0)
		return error_set(err, EINVAL, "%s: contains no event tags (yet)", path);
	end = (uint64_t)st.st_size;
	if (h->version != ASSAY_TAGS_VERSION)
		return error_set(
		        err, EPROTONOSUPPORT,
		        "%s has version %" PRIu32 ", which this assay does not support; "
		        "use the assay that was installed with the program's libassay-tags",
		        path, h->version);
	if (h->header_bytes < sizeof(*h) || h->packet_bytes < PACKET_LEAST ||
	    h->packet_bytes > PACKET_MOST || h->packet_bytes % 8 || h->rings_offset % 8 ||
	    h->packets_offset % 8 || h->packets_offset > OFFSET_MOST ||
	    h->packet_count > OFFSET_MOST / PACKET_MOST || h->ring_count > ASSAY_TAGS_RINGS ||
	    h->text_bytes > ASSAY_TAGS_TEXT || h->text_offset > OFFSET_MOST ||
	    !within(h->states_offset, h->packet_count * sizeof(uint32_t), end) ||
	    !within(h->rings_offset, h->ring_count * sizeof(struct assay_tags_ring), end))
		return error_set(err, EINVAL,
		                 "%s is damaged: its header refers to data beyond its end", path);
	return 0;
}

static int earlier_first(const void *a, const void *b)
{
	const struct assay_tags_off *x = a, *y = b;

	return x->off < y->off ? -1 : x->off > y->off;
}

/* Reads the list of times in which capture was off; old entries may be missing. */
static void off_read(struct tag_rings *r)
{
	const struct assay_tags_header *h = &r->header;
	uint64_t count = h->off_count, i = count > ASSAY_TAGS_OFFS ? count - ASSAY_TAGS_OFFS : 0;

	for (r->off.count = 0; i < count; i++) {
		struct assay_tags_off off = h->offs[i % ASSAY_TAGS_OFFS];

		if (!off.on)
			off.on = UINT64_MAX;
		if (off.on > off.off)
			vec_push(&r->off, off);
	}
	if (r->off.count)
		qsort(r->off.items, r->off.count, sizeof(*r->off.items), earlier_first);
}

int tag_rings_look(struct tag_rings *r, struct error *err)
{
	struct assay_tags_header h;
	size_t bytes;
	int rc = tag_rings_header_read(r->fd, &h, r->path, err);

	if (rc)
		return rc;
	/* Memory was allocated for these values, so they must not change. */
	if (h.packet_bytes != r->header.packet_bytes || h.packet_count != r->header.packet_count)
		return error_set(err, EINVAL, "%s is damaged: its header has changed", r->path);
	r->header = h;
	off_read(r);
	vec_reserve(&r->rings, h.ring_count);
	bytes = tag_rings_read_at(r->fd, r->rings.items, h.ring_count * sizeof(*r->rings.items),
	                          h.rings_offset);
	r->rings.count = bytes / sizeof(*r->rings.items);
	return 0;
}

int tag_rings_open(struct tag_rings **rings, const char *path, struct error *err)
{
	struct tag_rings *r;
	struct stat st;
	int fd = shared_file_open(AT_FDCWD, path, O_RDWR, &st), rc;

	*rings = NULL;
	if (fd == -EACCES || fd == -EROFS)
		fd = shared_file_open(AT_FDCWD, path, O_RDONLY, &st);
	if (fd < 0)
		return error_set(err, -fd, "cannot open %s: %s", path, strerror(-fd));
	r = xcalloc(1, sizeof(*r));
	r->fd = fd;
	r->path = xstrdup(path);
	rc = tag_rings_header_read(fd, &r->header, path, err);
	if (!rc)
		rc = tag_rings_look(r, err);
	if (rc) {
		tag_rings_close(r);
		return rc;
	}
	r->bytes = xmalloc(r->header.packet_bytes);
	*rings = r;
	return 0;
}

void tag_rings_close(struct tag_rings *r)
{
	if (!r)
		return;
	close(r->fd);
	free(r->path);
	free(r->bytes);
	buf_done(&r->text);
	vec_done(&r->rings);
	vec_done(&r->off);
	vec_done(&r->late);
	vec_done(&r->retired);
	vec_done(&r->states);
	vec_done(&r->earlier);
	vec_done(&r->items);
	free(r);
}

const struct assay_tags_header *tag_rings_header(const struct tag_rings *r)
{
	return &r->header;
}

size_t tag_rings_count(const struct tag_rings *r)
{
	return r->rings.count;
}

const struct assay_tags_ring *tag_rings_at(const struct tag_rings *r, size_t i)
{
	return &r->rings.items[i];
}

uint64_t tag_rings_damaged(const struct tag_rings *r)
{
	return r->damaged;
}

const char *tag_rings_text(struct tag_rings *r, size_t *length)
{
	size_t size = (size_t)r->header.text_bytes, got;
	struct stat st;

	/* The size is checked against the file before memory is allocated. */
	if (fstat(r->fd, &st) || !within(r->header.text_offset, size, (uint64_t)st.st_size))
		size = 0;
	buf_clear(&r->text);
	buf_pad(&r->text, '\0', size);
	got = size ? tag_rings_read_at(r->fd, r->text.data, size, r->header.text_offset) : 0;
	*length = got;
	return buf_text(&r->text);
}
