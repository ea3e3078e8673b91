/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Written files can be read: events, features, the account, files of killed recorders.
 */
#include "base/file/replace_file.h"
#include "perf_data_fixture.h"

#include <fcntl.h>
#include <sys/stat.h>

static const uint64_t chain[] = {CHAIN_CONTEXT_KERNEL, 0xffffffff81000010, CHAIN_CONTEXT_USER,
                                 0x400100, 0x400200};
static char directory[] = "/tmp/assay-perf-data-XXXXXX";
static char path[64], old_path[64];

static const struct event events[] = {
        {.kind = EVENT_MMAP,
         .mode = CPU_MODE_KERNEL,
         .pid = -1,
         .cpu = 0,
         .mmap = {.addr = 0xffffffff81000000,
                  .size = 0x1000000,
                  .pgoff = 0xffffffff81000000,
                  .executable = true,
                  .filename = "[kernel.kallsyms]_text"}},
        {.kind = EVENT_COMM, .pid = 100, .tid = 100, .cpu = 0, .comm = {.name = "seven77"}},
        {.kind = EVENT_COMM,
         .pid = 100,
         .tid = 100,
         .time_ns = 5,
         .comm = {.name = "eight888", .exec = true}},
        {.kind = EVENT_FORK,
         .pid = 100,
         .tid = 101,
         .time_ns = 6,
         .cpu = 3,
         .fork = {100, 99, false}},
        {.kind = EVENT_FORK, .pid = 102, .tid = 102, .time_ns = 6, .fork = {1, 1, true}},
        {.kind = EVENT_MMAP,
         .mode = CPU_MODE_USER,
         .pid = 100,
         .tid = 101,
         .time_ns = 7,
         .mmap = {.addr = 0x800000,
                  .size = 0x2000,
                  .pgoff = 0x1000,
                  .major = 8,
                  .minor = 1,
                  .inode = 77,
                  .inode_generation = 9,
                  .prot = 5,
                  .flags = 2,
                  .executable = true,
                  .filename = "/usr/bin/a name with spaces"}},
        {.kind = EVENT_MMAP,
         .mode = CPU_MODE_USER,
         .pid = 100,
         .tid = 101,
         .time_ns = 8,
         .mmap = {.addr = 0x600000,
                  .size = 0x2000,
                  .prot = 3,
                  .build_id = {20, {1, 2, 3, 0xff}},
                  .filename = "/data"}},
        {.kind = EVENT_SAMPLE,
         .mode = CPU_MODE_USER,
         .pid = 100,
         .tid = 101,
         .cpu = 3,
         .time_ns = 9,
         .sample = {.ip = 0x400100, .period = 12345, .chain = chain, .chain_count = 5}},
        {.kind = EVENT_SAMPLE,
         .mode = CPU_MODE_KERNEL,
         .cpu = 1,
         .time_ns = 10,
         .sample = {.ip = 1}},
        {.kind = EVENT_SWITCH, .pid = 100, .tid = 101, .time_ns = 11, .sched = {.out = true}},
        {.kind = EVENT_SWITCH,
         .pid = 100,
         .tid = 101,
         .time_ns = 12,
         .sched = {.out = true,
                   .preempted = true,
                   .machine_wide = true,
                   .next_prev_pid = 0,
                   .next_prev_tid = 5}},
        {.kind = EVENT_SWITCH,
         .pid = 100,
         .tid = 101,
         .time_ns = 13,
         .sched = {.machine_wide = true, .next_prev_pid = 7, .next_prev_tid = 8}},
        {.kind = EVENT_LOST, .pid = 1, .tid = 1, .time_ns = 14, .lost = {.count = 11}},
        {.kind = EVENT_LOST,
         .pid = 1,
         .tid = 1,
         .time_ns = 15,
         .lost = {.count = 3, .samples = true}},
        {.kind = EVENT_EXIT, .pid = 100, .tid = 101, .time_ns = 16, .fork = {100, 98, false}},
};
enum { EVENTS = sizeof(events) / sizeof(*events) };

static struct perf_data_writer *open_writer(void)
{
	static const uint64_t clock_ids[] = {1, 11}, witness_ids[] = {2}, dummy_ids[] = {3, 13};
	struct perf_data_attr attrs[3] = {
	        {fixture_clock(), "cpu-clock", clock_ids, 2},
	        {fixture_clock(), "cpu-clock/name=witness/", witness_ids, 1},
	        {fixture_clock(), "dummy:u", dummy_ids, 2},
	};
	struct perf_data_writer *w = NULL;
	struct error err = {0};

	attrs[1].attr.sample_period = 7100000;
	attrs[2].attr.config = PERF_COUNT_SW_DUMMY;
	attrs[2].attr.context_switch = 1;
	CHECK_EQ(perf_data_writer_open(&w, path, attrs, 3, &err), 0);
	CHECK_STR(err.text, "");
	return w;
}

static void append(struct perf_data_writer *w, const struct event *e)
{
	struct error err = {0};
	struct buf record = {0};

	fixture_encode(&record, e);
	CHECK_EQ(perf_data_writer_append(w, record.data, record.size, &err), 0);
	buf_done(&record);
}

/* Writes all events, and returns their text. */
static void append_all(struct perf_data_writer *w, struct buf *want)
{
	for (size_t i = 0; i < EVENTS; i++) {
		append(w, &events[i]);
		fixture_put_event(want, &events[i]);
	}
}

static void fill_recording(struct recording *r)
{
	struct account *a = &r->account;

	recording_init(r);
	r->hostname = xstrdup("host");
	r->os_release = xstrdup("6.1.0");
	r->arch = xstrdup("x86_64");
	r->cpu_description =
	        xstrdup("A processor of some length, more than sixty-four bytes in all");
	r->cmdline = xstrdup("assay record -a");
	r->cpus_online = 3;
	r->cpus_available = 4;
	r->clockid = 1;
	r->clock_wall_ns = 1700000000123456789;
	r->clock_start_ns = 42;
	r->first_sample_ns = 9;
	r->last_sample_ns = 10;
	vec_push(&r->build_ids, (struct recording_build_id){
	                                xstrdup("/bin/a"), -1, CPU_MODE_USER, {20, {1, 2, 3}}});
	vec_push(&r->build_ids,
	         (struct recording_build_id){
	                 xstrdup("[kernel.kallsyms]"), -1, CPU_MODE_KERNEL, {16, {9}}});
	vec_push(&r->attrs, (struct recording_attr){.role = ATTR_CLOCK});
	vec_push(&r->attrs, (struct recording_attr){.role = ATTR_WITNESS});
	*a = (struct account){.present = true,
	                      .machine_wide = true,
	                      .start_ns = 1,
	                      .end_ns = UINT64_MAX,
	                      .observer_cpu_ns = 3,
	                      .observer_start_cpu_ns = 4,
	                      .observer_bytes = 5,
	                      .observer_wakeups = 6,
	                      .flush_asked_ns = 10,
	                      .flushes = 11,
	                      .flush_cpu_ns = 12,
	                      .observer_pid = 7,
	                      .reader_pid = 8,
	                      .reads_unanswered = 3,
	                      .reads_not_made = 500,
	                      .counted_oncpu_ns = 8,
	                      .exit_status = -1};
	a->boot_id = xstrdup("b007-1d");
	vec_push(&a->targets, 71);
	vec_push(&a->targets, 72);
	vec_push(&a->devices, (struct account_device){254, 0, xstrdup("vda"), xstrdup("/")});
	vec_push(&a->devices, (struct account_device){254, 1, xstrdup("vda1"), NULL});
	vec_push(&a->symbols,
	         (struct account_symbol){UINT64_C(0xffffffff81000010), xstrdup("vfs_read"), NULL});
	vec_push(&a->symbols, (struct account_symbol){0xc0000000, xstrdup("f"), xstrdup("[ext4]")});
	vec_push(&a->cpus, (struct account_cpu){0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14});
	vec_push(&a->cpus, (struct account_cpu){.cpu = 5, .ring_used_max = UINT64_MAX});
	vec_push(&a->notes, xstrdup("a note: with = signs"));
	vec_push(&a->notes, xstrdup("two\nlines"));
}

/* Writes and closes PATH; `want` is the text of its events. */
static void write_file(struct buf *want)
{
	struct perf_data_writer *w = open_writer();
	struct error err = {0};
	struct recording r;

	append_all(w, want);
	fill_recording(&r);
	CHECK_EQ(perf_data_writer_close(w, &r, &err), 0);
	recording_done(&r);
}

static void every_kind_is_read_as_it_was_written(void)
{
	struct fixture_read got;
	struct buf want = {0};

	write_file(&want);
	fixture_read_file(&got, path);
	CHECK_EQ(got.rc, 0);
	CHECK_STR(buf_text(&got.text), buf_text(&want));
	CHECK_EQ(got.begun, 1);
	CHECK_EQ(got.ended, 1);
	CHECK_EQ(got.r.records, EVENTS);
	CHECK_EQ(got.r.samples, 2);
	CHECK_EQ(got.r.lost_records, 11);
	CHECK_EQ(got.r.lost_samples, 3);
	CHECK_EQ(got.r.first_sample_ns, 9);
	CHECK_EQ(got.r.last_sample_ns, 10);
	CHECK_EQ(got.r.unknown_records, 0);
	CHECK_EQ(got.r.warnings.count, 0);
	CHECK(!got.r.truncated);
	fixture_done(&got);
	buf_done(&want);
}

static void features_are_read_as_they_were_written(void)
{
	struct fixture_read got;
	struct buf want = {0};

	write_file(&want);
	fixture_read_file(&got, path);
	CHECK_STR(got.r.hostname, "host");
	CHECK_STR(got.r.account.boot_id, "b007-1d");
	CHECK_EQ(got.r.account.targets.count, 2);
	CHECK_EQ(got.r.account.targets.items[1], 72);
	CHECK_EQ(got.r.account.devices.count, 2);
	CHECK_EQ(got.r.account.devices.items[1].minor, 1);
	CHECK_STR(got.r.account.devices.items[0].name, "vda");
	CHECK_STR(got.r.account.devices.items[0].mount, "/");
	CHECK(!got.r.account.devices.items[1].mount);
	CHECK_EQ(got.r.account.symbols.count, 2);
	CHECK_EQ(got.r.account.symbols.items[0].address, UINT64_C(0xffffffff81000010));
	CHECK_STR(got.r.account.symbols.items[0].name, "vfs_read");
	CHECK(!got.r.account.symbols.items[0].module);
	CHECK_STR(got.r.account.symbols.items[1].module, "[ext4]");
	CHECK_STR(got.r.os_release, "6.1.0");
	CHECK_STR(got.r.arch, "x86_64");
	CHECK_STR(got.r.cpu_description,
	          "A processor of some length, more than sixty-four bytes in all");
	CHECK_STR(got.r.cmdline, "assay record -a");
	CHECK_STR(got.r.version, "assay " ASSAY_VERSION);
	CHECK_EQ(got.r.cpus_online, 3);
	CHECK_EQ(got.r.cpus_available, 4);
	CHECK_EQ(got.r.clockid, 1);
	CHECK_EQ(got.r.clock_wall_ns, 1700000000123456789);
	CHECK_EQ(got.r.clock_start_ns, 42);
	CHECK_EQ(got.r.build_ids.count, 2);
	CHECK_STR(got.r.build_ids.items[0].filename, "/bin/a");
	CHECK_EQ(got.r.build_ids.items[0].id.size, 20);
	CHECK_EQ(got.r.build_ids.items[0].id.bytes[2], 3);
	CHECK_EQ(got.r.build_ids.items[1].mode, CPU_MODE_KERNEL);
	CHECK_EQ(got.r.build_ids.items[1].id.size, 16);
	fixture_done(&got);
	buf_done(&want);
}

static void attrs_are_read_as_they_were_written(void)
{
	struct fixture_read got;
	struct buf want = {0};
	const struct recording_attr *a;

	write_file(&want);
	fixture_read_file(&got, path);
	CHECK_EQ(got.r.attrs.count, 3);
	a = got.r.attrs.items;
	CHECK_STR(a[0].name, "cpu-clock");
	CHECK_EQ(a[0].role, ATTR_CLOCK);
	CHECK_EQ(a[0].period_ns, 1000000);
	CHECK(a[0].callchain && a[0].user_callchain);
	CHECK_EQ(a[1].role, ATTR_WITNESS);
	CHECK_EQ(a[1].period_ns, 7100000);
	CHECK_STR(a[2].name, "dummy:u");
	CHECK_EQ(a[2].role, ATTR_TRACK);
	CHECK(a[2].context_switch);
	fixture_done(&got);
	buf_done(&want);
}

/* Clears the ids before the attrs: EVENT_DESC has them too. */
static void ids_are_found_in_the_features(void)
{
	static const uint8_t zero[8 * 5];
	struct fixture_read got;
	struct buf want = {0};
	int fd;

	write_file(&want);
	fd = open(path, O_WRONLY);
	CHECK_EQ(pwrite(fd, zero, sizeof(zero), sizeof(struct perf_data_header)), sizeof(zero));
	close(fd);
	fixture_read_file(&got, path);
	CHECK_STR(buf_text(&got.text), buf_text(&want));
	CHECK_EQ(got.r.samples, 2);
	CHECK_EQ(got.attr_counts[0], got.r.records);
	fixture_done(&got);
	buf_done(&want);
}

static void the_account_is_read_as_it_was_written(void)
{
	static const struct account_cpu cpu = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14};
	struct fixture_read got;
	struct buf want = {0};
	const struct account *a = &got.r.account;

	write_file(&want);
	fixture_read_file(&got, path);
	CHECK(a->present && a->machine_wide);
	CHECK_EQ(a->start_ns, 1);
	CHECK(a->end_ns == UINT64_MAX);
	CHECK_EQ(a->observer_cpu_ns, 3);
	CHECK_EQ(a->observer_start_cpu_ns, 4);
	CHECK_EQ(a->observer_bytes, 5);
	CHECK_EQ(a->observer_wakeups, 6);
	CHECK_EQ(a->flush_asked_ns, 10);
	CHECK_EQ(a->flushes, 11);
	CHECK_EQ(a->flush_cpu_ns, 12);
	CHECK_EQ(a->observer_pid, 7);
	CHECK_EQ(a->reader_pid, 8);
	CHECK_EQ(a->reads_unanswered, 3);
	CHECK_EQ(a->reads_not_made, 500);
	CHECK_EQ(a->counted_oncpu_ns, 8);
	CHECK_EQ(a->exit_status, -1);
	CHECK_EQ(a->cpus.count, 2);
	CHECK(!memcmp(&a->cpus.items[0], &cpu, sizeof(cpu)));
	CHECK_EQ(a->cpus.items[1].cpu, 5);
	CHECK(a->cpus.items[1].ring_used_max == UINT64_MAX);
	CHECK_EQ(a->notes.count, 2);
	CHECK_STR(a->notes.items[0], "a note: with = signs");
	CHECK_STR(a->notes.items[1], "two lines");
	fixture_done(&got);
	buf_done(&want);
}

static void a_killed_recording_is_read_to_its_last_record(void)
{
	struct perf_data_writer *w = open_writer();
	struct error err = {0};
	struct fixture_read got;
	struct buf want = {0};
	struct event sample = fixture_sample(99, 0, chain, 5);
	uint64_t flushed;

	append_all(w, &want);
	CHECK_EQ(perf_data_writer_flush(w, &err), 0);
	flushed = perf_data_writer_bytes(w);
	append(w, &sample);
	CHECK(perf_data_writer_bytes(w) > flushed);
	perf_data_writer_abandon(w); /* records after the last flush are lost */
	fixture_read_file(&got, path);
	CHECK_EQ(got.rc, 0);
	CHECK_STR(buf_text(&got.text), buf_text(&want));
	CHECK(got.r.bytes >= flushed);
	CHECK(got.r.truncated);
	CHECK_EQ(got.r.warnings.count, 1); /* zeros after the last record are not damage */
	CHECK(fixture_warned(&got, "was not closed"));
	CHECK(!got.r.account.present);
	CHECK_EQ(got.r.attrs.items[1].role, ATTR_WITNESS); /* recognised by its longer period */
	CHECK_STR(got.r.attrs.items[1].name, "cpu-clock/witness/");
	fixture_done(&got);
	buf_done(&want);
}

/* Large appends reach the file immediately, before data.size includes them. */
static void records_after_the_last_flush_are_read(void)
{
	struct perf_data_writer *w = open_writer();
	struct event sample = fixture_sample(99, 0, chain, 5);
	struct error err = {0};
	struct fixture_read got;
	struct buf many = {0};
	uint64_t start;

	for (int i = 0; i < 100; i++) /* more than the first block, which only a flush writes */
		append(w, &sample);
	CHECK_EQ(perf_data_writer_flush(w, &err), 0);
	start = perf_data_writer_bytes(w);
	for (int i = 0; i < 80000; i++)
		fixture_encode(&many, &sample);
	CHECK_EQ(perf_data_writer_append(w, many.data, many.size, &err), 0);
	perf_data_writer_abandon(w);
	fixture_read_file(&got, path);
	CHECK(got.r.bytes > 1 << 20);
	CHECK_EQ(got.r.samples, 100 + (got.r.bytes - start) / (many.size / 80000));
	CHECK(got.r.truncated);
	fixture_done(&got);
	buf_done(&many);
}

/* data.size is in bytes 48..55 of the header, and perf relies on it. */
static void a_flush_updates_the_size_for_perf(void)
{
	struct perf_data_writer *w = open_writer();
	struct event sample = fixture_sample(99, 0, chain, 5);
	struct perf_data_header h;
	struct error err = {0};
	int fd = open(path, O_RDONLY);

	append(w, &sample);
	CHECK_EQ(perf_data_writer_flush(w, &err), 0);
	CHECK_EQ(pread(fd, &h, sizeof(h), 0), sizeof(h));
	CHECK_EQ(h.data.offset + h.data.size, perf_data_writer_bytes(w));
	CHECK_EQ(h.features[0] | h.features[1] | h.features[2] | h.features[3], 0);
	CHECK(lseek(fd, 0, SEEK_END) >= (off_t)perf_data_writer_bytes(w));
	perf_data_writer_abandon(w);
	close(fd);
}

static void features_follow_the_data_in_order(void)
{
	struct perf_data_header h;
	struct buf want = {0};
	struct perf_data_section s;
	uint64_t end, place;
	int fd;

	write_file(&want);
	buf_done(&want);
	fd = open(path, O_RDONLY);
	CHECK_EQ(pread(fd, &h, sizeof(h), 0), sizeof(h));
	place = h.data.offset + h.data.size;
	end = 0;
	for (unsigned bit = 0; bit < PERF_DATA_FEATURE_BITS; bit++) {
		if (!(h.features[bit / 64] >> bit % 64 & 1))
			continue;
		CHECK_EQ(pread(fd, &s, sizeof(s), (off_t)place), sizeof(s));
		CHECK(s.offset >= end && s.size);
		end = s.offset + s.size;
		place += sizeof(s);
	}
	CHECK(h.features[3] >> (PERF_DATA_FEATURE_ACCOUNT - 192) & 1);
	CHECK(end <= (uint64_t)lseek(fd, 0, SEEK_END));
	close(fd);
}

static void an_older_recording_is_kept(void)
{
	struct buf want = {0};
	struct stat first, st;

	unlink(old_path);
	write_file(&want);
	CHECK_EQ(stat(path, &first), 0);
	CHECK_EQ(first.st_mode & 07777, 0600);
	write_file(&want);
	CHECK_EQ(stat(old_path, &st), 0);
	CHECK_EQ(st.st_ino, first.st_ino);
	CHECK_EQ(stat(path, &st), 0);
	CHECK(st.st_ino != first.st_ino);
	buf_done(&want);
}

static struct perf_data_writer *open_aside(void)
{
	struct perf_data_attr attr = {fixture_clock(), "cpu-clock", NULL, 0};
	struct perf_data_writer *w = NULL;
	struct error err = {0};

	CHECK_EQ(perf_data_writer_open_aside(&w, path, NULL, &attr, 1, &err), 0);
	CHECK_STR(err.text, "");
	return w;
}

/* Checks which files are in the directory: the file, the older one, a temporary one. */
static void look(bool file, bool old, bool part)
{
	char *name = replace_file_part_name(path, getpid());

	CHECK_EQ(!access(path, F_OK), file);
	CHECK_EQ(!access(old_path, F_OK), old);
	CHECK_EQ(!access(name, F_OK), part);
	free(name);
}

static void a_temporary_file_gets_its_name_when_it_is_complete(void)
{
	struct perf_data_writer *w;
	struct recording r;
	struct error err = {0};

	unlink(path);
	unlink(old_path);
	recording_init(&r);
	w = open_aside();
	append(w, &events[0]);
	CHECK_EQ(perf_data_writer_flush(w, &err), 0);
	look(false, false, true);
	CHECK_EQ(perf_data_writer_close(w, &r, &err), 0);
	look(true, false, false);
	/* A discarded file changes nothing; neither does one that cannot be closed. */
	w = open_aside();
	perf_data_writer_discard(w);
	look(true, false, false);
	w = open_aside();
	CHECK_EQ(mkdir(old_path, 0700), 0); /* the older file cannot be renamed */
	CHECK(perf_data_writer_close(w, &r, &err) < 0);
	CHECK_EQ(rmdir(old_path), 0);
	look(true, false, false);
	/* The flushed records get the final name. */
	w = open_aside();
	CHECK_EQ(perf_data_writer_flush(w, &err), 0);
	perf_data_writer_abandon(w);
	look(true, true, false);
	recording_done(&r);
}

static void refuse(const char *what)
{
	struct perf_data_attr attr = {fixture_clock(), "cpu-clock", NULL, 0};
	struct perf_data_writer *w = NULL;
	struct error err = {0};

	CHECK(perf_data_writer_open(&w, path, &attr, 1, &err) < 0);
	CHECK(!w);
	CHECK(strstr(err.text, what) && strstr(err.text, path));
}

static void outputs_that_are_not_regular_files_are_not_replaced(void)
{
	struct stat st;

	unlink(path);
	CHECK_EQ(symlink("/nonexistent/target", path), 0);
	refuse("symbolic link");
	CHECK_EQ(lstat(path, &st), 0);
	CHECK(S_ISLNK(st.st_mode));
	unlink(path);
	CHECK_EQ(mkdir(path, 0700), 0);
	refuse("directory");
	CHECK_EQ(rmdir(path), 0);
	CHECK_EQ(mkfifo(path, 0600), 0);
	refuse("not a regular file");
	unlink(path);
}

static void a_recording_under_way_is_not_moved(void)
{
	struct perf_data_writer *w;
	struct stat before, st;
	struct error err = {0};

	unlink(old_path);
	w = open_writer();
	CHECK_EQ(stat(path, &before), 0);
	refuse("is being written by");
	CHECK_EQ(stat(path, &st), 0);
	CHECK_EQ(st.st_ino, before.st_ino);
	CHECK(access(old_path, F_OK) != 0);
	CHECK_EQ(perf_data_writer_flush(w, &err), 0);
	perf_data_writer_abandon(w);
	w = open_writer(); /* its writer has exited */
	CHECK_EQ(stat(old_path, &st), 0);
	CHECK_EQ(st.st_ino, before.st_ino);
	perf_data_writer_discard(w);
	CHECK_EQ(stat(path, &st), 0);
	CHECK_EQ(st.st_ino, before.st_ino);
}

static void a_file_that_cannot_be_created_is_reported(void)
{
	struct perf_data_attr attr = {fixture_clock(), "cpu-clock", NULL, 0};
	struct perf_data_writer *w = NULL;
	struct error err = {0};

	CHECK_EQ(perf_data_writer_open(&w, "/dev/null", &attr, 1, &err), 0);
	CHECK_EQ(perf_data_writer_flush(w, &err), 0);
	perf_data_writer_abandon(w);
	CHECK(perf_data_writer_open(&w, "/proc/self/none/a", &attr, 1, &err) < 0);
	CHECK(strstr(err.text, "/proc/self/none/a"));
	CHECK_EQ(err.code, 2);
	perf_data_writer_abandon(NULL);
}

int main(void)
{
	if (!mkdtemp(directory)) {
		printf("Bail out! no temporary directory\n");
		return 1;
	}
	snprintf(path, sizeof(path), "%s/data", directory);
	snprintf(old_path, sizeof(old_path), "%s/data.old", directory);
	RUN(every_kind_is_read_as_it_was_written);
	RUN(features_are_read_as_they_were_written);
	RUN(attrs_are_read_as_they_were_written);
	RUN(ids_are_found_in_the_features);
	RUN(the_account_is_read_as_it_was_written);
	RUN(a_killed_recording_is_read_to_its_last_record);
	RUN(records_after_the_last_flush_are_read);
	RUN(a_flush_updates_the_size_for_perf);
	RUN(features_follow_the_data_in_order);
	RUN(an_older_recording_is_kept);
	RUN(a_temporary_file_gets_its_name_when_it_is_complete);
	RUN(outputs_that_are_not_regular_files_are_not_replaced);
	RUN(a_recording_under_way_is_not_moved);
	RUN(a_file_that_cannot_be_created_is_reported);
	unlink(path);
	unlink(old_path);
	rmdir(directory);
	return check_end();
}
