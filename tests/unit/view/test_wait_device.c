/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Block devices of the files for which threads waited. */
#include "check.h"
#include "output/document_output.h"
#include "wait_fixture.h"

#include "view/waits/wait_device.h"
#include "view/waits/wait_document.h"

#include <string.h>

static void add_device(struct account *account, uint32_t minor, const char *name, const char *mount)
{
	vec_push(&account->devices,
	         (struct account_device){.major = 252,
	                                 .minor = minor,
	                                 .name = xstrdup(name),
	                                 .mount = mount ? xstrdup(mount) : NULL});
}

static void check_device(const struct recording *r, const char *path, const char *want)
{
	const char *have = wait_device_of_path(&r->account, path);

	if (!have != !want || (want && strcmp(have, want) != 0))
		printf("# %s on %s, not on %s\n", path, have ? have : "none", want ? want : "none");
	CHECK(want ? have && !strcmp(have, want) : !have);
}

static void test_the_longest_mount_has_the_file(void)
{
	struct recording r;

	recording_init(&r);
	add_device(&r.account, 0, "vda", NULL);
	check_device(&r, "/srv/data.db", NULL);
	add_device(&r.account, 1, "vda1", "/");
	add_device(&r.account, 16, "vdb", "/srv");
	add_device(&r.account, 32, "vdc", "/srv/my\\040files");
	add_device(&r.account, 48, "sda1", "/run/media/stick");
	check_device(&r, "/data.db", "vda1");
	check_device(&r, "/srv/data.db", "vdb");
	check_device(&r, "/srv/data.db (deleted)", "vdb");
	check_device(&r, "/srvs/data.db", "vda1");
	check_device(&r, "/srv/my files/data.db", "vdc");
	check_device(&r, "/srv/my", "vdb");
	check_device(&r, "/run/media/stick/data.db", "sda1");
	check_device(&r, "/run/data.db", NULL);
	check_device(&r, "/memfd:data (deleted)", NULL);
	check_device(&r, "pipe:[42]", NULL);
	recording_done(&r);
}

/* The device of /srv/data.db if a thread waits there; "": none. */
static const char *device_at(struct fixture *f, uint32_t path, const char *name)
{
	const struct wait_key key = key_at(f, path);
	struct view *v = view_new(f->profile, f->symbols);
	const char *device;
	struct wait_causes c;
	struct wait_cause cause;

	wait_causes_init(&c, v);
	cause = wait_cause_of(&c, &key, name);
	device = wait_device_name(&c, &key, &cause, name);
	wait_causes_done(&c);
	view_free(v);
	return device ? device : "";
}

static void test_only_files_of_a_block_device_have_one(void)
{
	struct fixture f;
	uint32_t path;

	fixture_init(&f, false);
	path = PATH(&f, "commit", "__x64_sys_fdatasync", "do_fsync", "ext4_sync_file");
	CHECK(!strcmp(device_at(&f, path, "/srv/data.db"), ""));
	add_device(&f.profile->recordings.items[0]->account, 1, "vda1", "/");
	CHECK(!strcmp(device_at(&f, path, "/srv/data.db"), "vda1"));
	CHECK(!strcmp(device_at(&f, path, NULL), ""));
	path = PATH(&f, "commit", "__x64_sys_fdatasync", "do_fsync", "ovl_fsync", "ext4_sync_file");
	CHECK(!strcmp(device_at(&f, path, "/srv/data.db"), ""));
	path = PATH(&f, "load", "ksys_read", "vfs_read", "nfs_file_read", "filemap_read");
	CHECK(!strcmp(device_at(&f, path, "/srv/data.db"), ""));
	path = PATH(&f, "take", "ksys_read", "vfs_read", "pipe_read");
	CHECK(!strcmp(device_at(&f, path, "/srv/fifo"), ""));
	fixture_done(&f);
}

static void test_a_file_is_shown_with_its_device(void)
{
	struct wait_options o = {.request = {.limit = -1}};
	struct wait_report *r = NULL;
	struct error err = {0};
	struct wait_key key;
	struct wait_log *log;
	struct buf out = {0}, json = {0};
	struct document d;
	struct fixture f;
	struct view *v;

	fixture_init(&f, false);
	log = &f.profile->waits;
	add_device(&f.profile->recordings.items[0]->account, 1, "vda1", "/");
	log->wanted = true;
	wait_log_descriptor(log, 0, 3, 0, "/srv/data.db");
	key = key_at(&f, PATH(&f, "commit", "__x64_sys_fdatasync", "do_fsync", "ext4_sync_file"));
	key.in_system_call = true;
	key.argument = 3;
	key.descriptor = 0;
	add_wait(log, &key, 30, ID_NONE);
	v = view_new(f.profile, f.symbols);
	CHECK_EQ(wait_report_new(&r, v, log, &o, &err), 0);
	document_init(&d);
	wait_document(&d, r);
	document_markdown_print(&d, NULL, &out);
	document_json_print(&d, false, NULL, &json);
	CHECK(strstr(buf_text(&out), "file data.db on vda1 in commit"));
	CHECK(strstr(buf_text(&json), "\"name\": \"/srv/data.db\""));
	CHECK(strstr(buf_text(&json), "\"device\": \"vda1\""));
	document_done(&d);
	wait_report_free(r);
	view_free(v);
	buf_done(&out);
	buf_done(&json);
	fixture_done(&f);
}

int main(void)
{
	RUN(test_the_longest_mount_has_the_file);
	RUN(test_only_files_of_a_block_device_have_one);
	RUN(test_a_file_is_shown_with_its_device);
	return check_end();
}
