/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "push/push_spool.h"

#include "base/file/safe_directory.h"
#include "base/file/write_all.h"
#include "base/memory/blake2b.h"
#include "base/read/regular_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define HEAD "assay-push 1 "
#define WAITING ".batch"
#define TAKEN ".taken"
#define PART "new.part"
#define LOCK "lock"
#define NAME_SIZE sizeof(((struct push_item *)0)->name)
#define QUERY_MAX 4096
#define BODY_MAX ((off_t)1 << 30)
#define LOCK_WAIT_MS 5
#define LOCK_TRIES 1000

struct push_spool {
	int fd; /* the directory */
	int lock;
	char *path;
	uint64_t bytes_max, serial;
	uint64_t bytes; /* at most; batches that were sent are subtracted at the next scan */
};

/* A file of the directory; its name has its time, its serial number and its samples. */
struct spool_entry {
	char name[NAME_SIZE];
	uint64_t samples, bytes;
	bool taken;
};

/* ---- the directory ------------------------------------------------------- */

/* TIME-SERIAL-SAMPLES.batch; false: another file. */
static bool parse_name(const char *name, struct spool_entry *e)
{
	const char *end = strrchr(name, '.'), *samples = strrchr(name, '-');

	if (!end || !samples || samples > end || strlen(name) >= sizeof(e->name))
		return false;
	e->taken = !strcmp(end, TAKEN);
	if (!e->taken && strcmp(end, WAITING) != 0)
		return false;
	e->samples = strtoull(samples + 1, NULL, 10);
	snprintf(e->name, sizeof(e->name), "%s", name);
	return true;
}

typedef VEC(struct spool_entry) spool_entries;

static int compare(const void *a, const void *b)
{
	return strcmp(((const struct spool_entry *)a)->name, ((const struct spool_entry *)b)->name);
}

/* All batches, the oldest first. */
static int scan(const struct push_spool *s, spool_entries *found)
{
	int fd = openat(s->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *directory = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	struct spool_entry e;
	struct stat st;

	if (!directory)
		return -errno;
	while ((entry = readdir(directory)))
		if (parse_name(entry->d_name, &e) &&
		    !fstatat(s->fd, e.name, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode)) {
			e.bytes = (uint64_t)st.st_size;
			vec_push(found, e);
		}
	closedir(directory);
	if (found->count)
		qsort(found->items, found->count, sizeof(*found->items), compare);
	return 0;
}

static char *directory_of(const struct push_spool_options *o)
{
	uint8_t digest[BLAKE2B_BYTES];
	struct blake2b b;

	blake2b_init(&b);
	blake2b_add(&b, o->address, strlen(o->address));
	blake2b_end(&b, digest);
	return xasprintf("%s/%02x%02x%02x%02x%02x%02x", o->directory, digest[0], digest[1],
	                 digest[2], digest[3], digest[4], digest[5]);
}

static int open_directory(struct push_spool *s, struct error *err)
{
	char *real = NULL;
	int place = safe_directory_open(
	        s->path, SAFE_DIRECTORY_MAKE | SAFE_DIRECTORY_OURS | SAFE_DIRECTORY_CLOSED, &real,
	        err);

	if (place < 0)
		return place;
	free(s->path);
	s->path = real;
	s->fd = openat(place, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	close(place);
	if (s->fd < 0)
		return error_set(err, errno, "%s: %s", s->path, strerror(errno));
	if (fchmod(s->fd, 0700))
		return error_set(err, errno, "%s: %s", s->path, strerror(errno));
	return 0;
}

static int take_lock(struct push_spool *s, struct error *err)
{
	s->lock = openat(s->fd, LOCK, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (s->lock < 0)
		return error_set(err, errno, "%s/" LOCK ": %s", s->path, strerror(errno));
	if (flock(s->lock, LOCK_EX | LOCK_NB))
		return error_set(err, EBUSY,
		                 "another session sends to this address with the spool %s; choose "
		                 "another directory with --spool, or end it",
		                 s->path);
	return 0;
}

/*
 * The process that sends has the descriptor of the directory too, so this lock ends with it. After
 * a kill of its session it gives up its request, and renames the batch. File systems without locks
 * of directories have none.
 */
static int wait_for_sender(struct push_spool *s, struct error *err)
{
	const struct timespec moment = {.tv_nsec = LOCK_WAIT_MS * 1000000};

	for (int i = 0; flock(s->fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK; i++) {
		if (i == LOCK_TRIES)
			return error_set(err, EBUSY,
			                 "%s: the process that sends for an earlier session still "
			                 "runs; try again",
			                 s->path);
		nanosleep(&moment, NULL);
	}
	return 0;
}

/* ---- adding -------------------------------------------------------------- */

static int write_part(struct push_spool *s, const struct push_batch *b, struct error *err)
{
	int fd = openat(s->fd, PART, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	struct buf head = {0};
	int ret;

	if (fd < 0)
		return error_set(err, errno, "%s/" PART ": %s", s->path, strerror(errno));
	buf_addf(&head, HEAD "%zu\n%s\n", b->query.size, buf_text(&b->query));
	ret = write_all(fd, head.data, head.size);
	if (!ret)
		ret = write_all(fd, buf_text(&b->body), b->body.size);
	if (close(fd) && !ret)
		ret = -errno;
	buf_done(&head);
	if (!ret)
		return 0;
	unlinkat(s->fd, PART, 0);
	return error_set(err, -ret, "%s: %s", s->path, write_error(-ret));
}

/* Deletes the oldest batches that are not being sent, until `room` bytes more fit. */
static void make_room(struct push_spool *s, uint64_t room, struct send_count *dropped)
{
	spool_entries all = {0};

	if (s->bytes + room <= s->bytes_max || scan(s, &all))
		return;
	s->bytes = 0;
	vec_each (e, &all)
		s->bytes += e->bytes;
	vec_each (e, &all) {
		if (s->bytes + room <= s->bytes_max)
			break;
		if (e->taken || unlinkat(s->fd, e->name, 0))
			continue;
		s->bytes -= e->bytes;
		dropped->batches++;
		dropped->samples += e->samples;
	}
	vec_done(&all);
}

int push_spool_add(struct push_spool *s, uint64_t time_ns, const struct push_batch *b,
                   struct send_count *dropped, struct error *err)
{
	uint64_t bytes = b->body.size + b->query.size + sizeof(HEAD) + 8;
	char name[NAME_SIZE];
	int ret;

	*dropped = (struct send_count){0};
	if (bytes > s->bytes_max)
		return error_set(err, EFBIG, "a batch of %" PRIu64 " bytes exceeds --spool-size",
		                 bytes);
	make_room(s, bytes, dropped);
	if (s->bytes + bytes > s->bytes_max)
		return error_set(err, ENOSPC, "%s: the spool is full", s->path);
	ret = write_part(s, b, err);
	if (ret)
		return ret;
	snprintf(name, sizeof(name), "%020" PRIu64 "-%08" PRIu64 "-%" PRIu64 WAITING, time_ns,
	         s->serial++ % 100000000, b->samples);
	if (renameat(s->fd, PART, s->fd, name))
		return error_set(err, errno, "%s/%s: %s", s->path, name, strerror(errno));
	s->bytes += bytes;
	return 0;
}

/* ---- taking -------------------------------------------------------------- */

/* Renames the file; 0, or -ENOENT: it was dropped in this moment. */
static int claim(struct push_spool *s, const struct spool_entry *e, struct push_item *item)
{
	snprintf(item->name, sizeof(item->name), "%s", e->name);
	if (e->taken)
		return 0;
	memcpy(strrchr(item->name, '.'), TAKEN, sizeof(TAKEN));
	return renameat(s->fd, e->name, s->fd, item->name) ? -errno : 0;
}

/* Reads the head: the size of the query, a line feed, the query, a line feed. */
static int split(const struct buf *file, struct push_batch *b)
{
	const char *at = buf_text(file), *end = at + file->size, *query;
	char *stop;
	size_t size;

	if (strncmp(at, HEAD, strlen(HEAD)))
		return -EINVAL;
	size = strtoul(at + strlen(HEAD), &stop, 10);
	query = stop + 1;
	if (*stop != '\n' || size > QUERY_MAX || query + size >= end || query[size] != '\n')
		return -EINVAL;
	buf_add(&b->query, query, size);
	buf_add(&b->body, query + size + 1, (size_t)(end - (query + size + 1)));
	return 0;
}

static int read_file(const struct push_spool *s, struct push_item *item, struct error *err)
{
	int fd = openat(s->fd, item->name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct buf file = {0};
	struct stat st;
	int ret = -EINVAL;

	if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size <= BODY_MAX) {
		while (buf_read(&file, fd) > 0)
			;
		ret = split(&file, &item->batch);
	}
	if (fd >= 0)
		close(fd);
	buf_done(&file);
	return ret ? error_set(err, EINVAL, "%s/%s is damaged", s->path, item->name) : 0;
}

int push_spool_take(struct push_spool *s, struct push_item *item, struct error *err)
{
	spool_entries all = {0};
	int ret = scan(s, &all);

	*item = (struct push_item){0};
	if (ret)
		return error_set(err, -ret, "%s: %s", s->path, strerror(-ret));
	/* Batches that were taken before have precedence: their names differ in the suffix alone.
	 */
	for (size_t i = 0; i < all.count; i++) {
		if (claim(s, &all.items[i], item)) {
			item->name[0] = 0;
			continue;
		}
		ret = read_file(s, item, err);
		item->batch.samples = all.items[i].samples;
		break;
	}
	vec_done(&all);
	return ret;
}

void push_spool_remove(struct push_spool *s, const struct push_item *item)
{
	unlinkat(s->fd, item->name, 0);
}

void push_spool_return(struct push_spool *s, const struct push_item *item)
{
	char name[NAME_SIZE];

	snprintf(name, sizeof(name), "%s", item->name);
	memcpy(strrchr(name, '.'), WAITING, sizeof(WAITING));
	renameat(s->fd, item->name, s->fd, name);
}

void push_item_done(struct push_item *item)
{
	push_batch_done(&item->batch);
	item->name[0] = 0;
}

int push_spool_count(const struct push_spool *s, struct send_count *count)
{
	spool_entries all = {0};
	int ret = scan(s, &all);

	*count = (struct send_count){0};
	vec_each (e, &all) {
		count->batches++;
		count->samples += e->samples;
	}
	vec_done(&all);
	return ret;
}

/* ---- life cycle ---------------------------------------------------------- */

/* The serial numbers continue, so that names in the same ns do not meet. */
static void look_at_earlier(struct push_spool *s)
{
	spool_entries all = {0};

	unlinkat(s->fd, PART, 0);
	if (!scan(s, &all))
		vec_each (e, &all)
			s->bytes += e->bytes;
	s->serial = all.count;
	vec_done(&all);
}

int push_spool_open(struct push_spool **out, const struct push_spool_options *o, struct error *err)
{
	struct push_spool *s = xcalloc(1, sizeof(*s));
	int ret;

	s->fd = s->lock = -1;
	s->bytes_max = o->bytes_max;
	s->path = directory_of(o);
	ret = open_directory(s, err);
	if (!ret)
		ret = take_lock(s, err);
	if (!ret)
		ret = wait_for_sender(s, err);
	if (!ret)
		look_at_earlier(s);
	else
		push_spool_close(s);
	*out = ret ? NULL : s;
	return ret;
}

const char *push_spool_path(const struct push_spool *s)
{
	return s->path;
}

int push_spool_descriptor(const struct push_spool *s)
{
	return s->fd;
}

void push_spool_close(struct push_spool *s)
{
	if (!s)
		return;
	if (s->fd >= 0)
		close(s->fd);
	if (s->lock >= 0)
		close(s->lock);
	free(s->path);
	free(s);
}
