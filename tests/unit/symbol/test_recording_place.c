/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recordings of this machine since its last boot: only their pids are still valid. */
#include "base/clock.h"
#include "base/this_boot.h"
#include "event/recording.h"
#include "process/process.h"

#include "check.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SECOND UINT64_C(1000000000)

static void of_this_host(struct recording *r)
{
	char name[256] = "";

	recording_init(r);
	CHECK(!gethostname(name, sizeof(name) - 1));
	r->hostname = xstrdup(name);
}

static void boot_id_decides(void)
{
	char boot[BOOT_ID_SIZE];
	struct recording r;

	this_boot_id(boot);
	CHECK_EQ(strlen(boot), 36);
	of_this_host(&r);
	r.account.boot_id = xstrdup(boot);
	CHECK_EQ(recording_place(&r), RECORDING_HERE);
	r.account.boot_id[0] = r.account.boot_id[0] == '0' ? '1' : '0';
	CHECK_EQ(recording_place(&r), RECORDING_ELSEWHERE);
	memcpy(r.account.boot_id, boot, strlen(boot) + 1);
	r.hostname[0]++;
	CHECK_EQ(recording_place(&r), RECORDING_ELSEWHERE);
	recording_done(&r);
}

static void without_a_boot_id_the_moment_of_boot_decides(void)
{
	struct recording r;

	of_this_host(&r);
	CHECK_EQ(recording_place(&r), RECORDING_UNPROVEN);
	r.clockid = CLOCK_MONOTONIC;
	r.clock_start_ns = clock_ns(CLOCK_MONOTONIC);
	r.clock_wall_ns = clock_ns(CLOCK_REALTIME);
	CHECK_EQ(recording_place(&r), RECORDING_HERE);
	r.clock_wall_ns -= 3600 * SECOND;
	CHECK_EQ(recording_place(&r), RECORDING_UNPROVEN);
	free(r.hostname);
	r.hostname = NULL;
	r.clock_wall_ns += 3600 * SECOND;
	CHECK_EQ(recording_place(&r), RECORDING_UNPROVEN);
	recording_done(&r);
}

static const struct image *image_mapped(struct image_table *images, struct process_table *t,
                                        const char *path, uint64_t time_ns)
{
	struct event e = {.kind = EVENT_MMAP, .mode = CPU_MODE_USER, .pid = 10, .tid = 10};
	struct image key = {.kind = IMAGE_FILE, .path = intern_add(&images->names, path)};

	e.time_ns = time_ns;
	e.mmap.addr = 4096 * (uint64_t)(images->images.count + 1);
	e.mmap.size = 4096;
	e.mmap.filename = path;
	e.mmap.executable = true;
	process_table_event(t, &e);
	return &images->images.items[image_table_add(images, &key)];
}

static void images_have_only_pids_of_this_boot(void)
{
	struct image_table images;
	struct process_table *t;
	const struct image *image;

	image_table_init(&images);
	t = process_table_new(&images);
	image = image_mapped(&images, t, "/live", 5);
	CHECK(image->pid == 10 && !image->pid_seen_ns && !image->pid_unproven);
	process_table_set_place(t, RECORDING_HERE, 1000);
	image = image_mapped(&images, t, "/here", 5);
	CHECK(image->pid == 10 && image->pid_seen_ns == 1005 && !image->pid_unproven);
	process_table_set_place(t, RECORDING_ELSEWHERE, 1000);
	image = image_mapped(&images, t, "/elsewhere", 5);
	CHECK(!image->pid && !image->pid_unproven);
	process_table_set_place(t, RECORDING_UNPROVEN, 1000);
	image = image_mapped(&images, t, "/unproven", 5);
	CHECK(!image->pid && image->pid_unproven);
	process_table_free(t);
	image_table_done(&images);
}

static void processes_begin_when_they_began(void)
{
	uint64_t now = clock_ns(CLOCK_REALTIME), start = 0;

	CHECK(this_boot_process(getpid(), &start));
	CHECK(start > now - 600 * SECOND && start < now + SECOND);
	CHECK(!this_boot_process(0, &start));
	CHECK(!this_boot_process(1999999999, &start));
}

int main(void)
{
	RUN(boot_id_decides);
	RUN(without_a_boot_id_the_moment_of_boot_decides);
	RUN(images_have_only_pids_of_this_boot);
	RUN(processes_begin_when_they_began);
	return check_end();
}
