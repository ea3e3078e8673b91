/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file in the spool of a back end with any bytes: it is damaged, or its query and its body are
 * parts of the file. The batch can be returned, taken again, and removed.
 */
#include "push/push_spool.h"

#include "fuzz_directory.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

#define SAMPLES 7

static struct push_spool *spool;

static void spool_open(void)
{
	struct push_spool_options o = {
	        .directory = fuzz_directory_get(), .address = "fuzz", .bytes_max = 1 << 30};

	if (push_spool_open(&spool, &o, NULL))
		abort();
}

static void check_batch(const struct push_batch *b, const uint8_t *bytes, size_t size)
{
	if (b->query.size + b->body.size >= size || b->samples != SAMPLES)
		abort();
	if (b->query.size && !memmem(bytes, size, b->query.data, b->query.size))
		abort();
	if (b->body.size && memcmp(bytes + size - b->body.size, b->body.data, b->body.size) != 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct send_count count;
	struct error err = {0};
	struct push_item item;
	int fd;

	if (!spool)
		spool_open();
	fd = openat(push_spool_descriptor(spool), "1-1-7.batch",
	            O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, bytes, size) != (ssize_t)size)
		abort();
	close(fd);
	for (int i = 0; i < 2; i++) {
		if (push_spool_take(spool, &item, &err) ? !err.text[0] : !item.name[0])
			abort();
		if (!err.text[0])
			check_batch(&item.batch, bytes, size);
		if (!i)
			push_spool_return(spool, &item);
		else
			push_spool_remove(spool, &item);
		push_item_done(&item);
	}
	if (push_spool_count(spool, &count) || count.batches)
		abort();
	return 0;
}
