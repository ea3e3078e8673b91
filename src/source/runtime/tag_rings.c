/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/runtime/tag_rings.h"

#include "source/perf/clock_pair.h"
#include "source/runtime/runtime_owner.h"
#include "source/runtime/tag_rings_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

const struct shared_kind tag_rings_kind = {"tags", "ASSAY_TAGS_DIR", "event tags of processes"};

int tag_rings_directory(char **path, bool make, struct error *err)
{
	return shared_directory(&tag_rings_kind, path, make, err);
}

/* ---- the list ----------------------------------------------------------- */

static void text_take(char *into, const char *from, size_t room)
{
	memcpy(into, from, room);
	into[room] = '\0';
}

/* Sets how many packets are in use, and how many events were discarded. */
static void fill_in(struct tag_rings_file *file, struct tag_rings *rings)
{
	const struct assay_tags_header *h = tag_rings_header(rings);

	file->packets = tag_rings_used(rings);
	file->room = h->packet_count;
	file->discarded = h->discarded;
	for (size_t i = 0; i < tag_rings_count(rings); i++)
		file->discarded += tag_rings_at(rings, i)->discarded;
}

/*
 * The runtime locks a file before it sets its size, and the kernel removes the lock with the last
 * mapping. So a file with contents and without a lock belongs to a process, or to a program before
 * exec, that has ended. A shared lock is tried, so that two readers do not see each other's.
 */
enum lock_state { LOCK_HELD, LOCK_FREE, LOCK_UNKNOWN };

static enum lock_state lock_state(int fd)
{
	if (!flock(fd, LOCK_SH | LOCK_NB)) {
		flock(fd, LOCK_UN);
		return LOCK_FREE;
	}
	return errno == EWOULDBLOCK ? LOCK_HELD : LOCK_UNKNOWN;
}

struct tag_ring_listing {
	tag_rings_list *list;
	struct runtime_owners known;
};

/* Skips a file that is not initialised yet or has another format. */
static void file_add(void *ctx, int fd, const char *path, const struct shared_name *name)
{
	struct tag_ring_listing *l = ctx;
	struct tag_rings *rings;
	struct tag_rings_file *file;
	const struct assay_tags_header *h;
	enum lock_state lock;
	bool found;

	if (tag_rings_open(&rings, path, NULL))
		return;
	lock = lock_state(fd);
	h = tag_rings_header(rings);
	file = vec_add(l->list);
	file->file.path = xstrdup(path);
	file->file.pid = name->pid;
	file->file.birth = name->birth;
	file->number = name->number;
	text_take(file->name, h->name, sizeof(h->name));
	text_take(file->command, h->command, sizeof(h->command));
	file->mode = h->mode;
	file->flags = h->flags;
	found = runtime_owner_find(&l->known, name->pid, name->birth, &file->several) != 0;
	file->file.running = lock == LOCK_UNKNOWN ? found : lock == LOCK_HELD;
	file->capture = h->capture == 1;
	file->file.start_ns = h->start_ns;
	file->first_ticks = h->first.ticks;
	fill_in(file, rings);
	tag_rings_close(rings);
}

static int by_process(const void *a, const void *b)
{
	const struct tag_rings_file *x = a, *y = b;

	if (x->file.pid != y->file.pid)
		return x->file.pid < y->file.pid ? -1 : 1;
	if (x->file.birth != y->file.birth)
		return x->file.birth < y->file.birth ? -1 : 1;
	return x->first_ticks < y->first_ticks ? -1 : x->first_ticks > y->first_ticks;
}

/* After an exec, the files of the process's earlier programs count as ended. */
static void end_older(tag_rings_list *list)
{
	qsort(list->items, list->count, sizeof(*list->items), by_process);
	for (size_t i = 1; i < list->count; i++) {
		struct tag_rings_file *older = &list->items[i - 1], *file = &list->items[i];

		if (older->file.pid == file->file.pid && older->file.birth == file->file.birth &&
		    !older->several)
			older->file.running = false;
	}
}

int tag_rings_list_read(tag_rings_list *list, const char *directory, struct error *err)
{
	struct tag_ring_listing l = {.list = list};
	int rc = runtime_files_each(&tag_rings_kind, directory, file_add, &l, err);

	runtime_owners_done(&l.known);
	if (list->count) {
		end_older(list);
		qsort(list->items, list->count, sizeof(*list->items), runtime_file_compare);
	}
	return rc;
}

void tag_rings_list_done(tag_rings_list *list)
{
	vec_each (file, list)
		free(file->file.path);
	vec_done(list);
}

/* ---- the switch, and the end -------------------------------------------- */

#define FIELD(name)                                                                                \
	offsetof(struct assay_tags_header, name), sizeof(((struct assay_tags_header *)0)->name)

static int field_write(int fd, size_t offset, size_t size, const void *value)
{
	return pwrite(fd, value, size, (off_t)offset) == (ssize_t)size ? 0 : -EIO;
}

/*
 * Enables or disables capture, and updates the list of off times (offs), with the same rules as the
 * process itself.
 */
static int switch_write(int fd, const struct assay_tags_header *h, bool on)
{
	uint64_t count = h->off_count + !on, last = (count - 1) % ASSAY_TAGS_OFFS;
	struct assay_tags_off off =
	        on ? h->offs[last] : (struct assay_tags_off){clock_pair_ticks(), 0};
	uint32_t capture = on;
	int rc = 0;

	if (on && !off.on)
		off.on = clock_pair_ticks();
	if (count)
		rc = field_write(fd, offsetof(struct assay_tags_header, offs) + last * sizeof(off),
		                 sizeof(off), &off);
	if (!rc)
		rc = field_write(fd, FIELD(off_count), &count);
	return rc ? rc : field_write(fd, FIELD(capture), &capture);
}

int tag_rings_capture(const struct tag_rings_file *file, bool on, struct error *err)
{
	struct assay_tags_header h;
	struct stat st;
	int fd = shared_file_open(AT_FDCWD, file->file.path, O_RDWR, &st), rc;

	if (fd < 0)
		return error_set(err, -fd, "cannot open %s for writing: %s", file->file.path,
		                 strerror(-fd));
	rc = tag_rings_header_read(fd, &h, file->file.path, err);
	if (!rc && (h.capture == 1) != on) {
		rc = switch_write(fd, &h, on);
		if (rc)
			error_set(err, -rc, "cannot write to %s: %s", file->file.path,
			          strerror(-rc));
	}
	close(fd);
	return rc;
}

int tag_rings_remove(const struct tag_rings_file *file, struct error *err)
{
	if (unlink(file->file.path) && errno != ENOENT)
		return error_set(err, errno, "cannot remove %s: %s", file->file.path,
		                 strerror(errno));
	return 0;
}
