/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Other forms of files: gzip files, directories of several files, old versions.
 */
#include "base/read/gunzip.h"
#include "perf_data_fixture.h"

#include <errno.h>
#include <zlib.h>

static char folder[] = "/tmp/assay-perf-data-file-XXXXXX";

static const char *path_in(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s%s%s", folder, *name ? "/" : "", name);
	return path;
}

static void put_file(const char *name, const struct buf *bytes)
{
	FILE *out = fopen(path_in(name), "wb");

	CHECK(out && (!bytes->size || fwrite(bytes->data, 1, bytes->size, out) == bytes->size));
	if (out)
		fclose(out);
}

static void put_sample(struct buf *records, uint64_t time_ns, uint32_t cpu)
{
	struct event e = fixture_sample(time_ns, cpu, NULL, 0);

	fixture_encode(records, &e);
}

/* Two samples, without features. */
static void make_file(struct buf *file)
{
	struct perf_event_attr attr = fixture_clock();
	struct buf records = {0};

	put_sample(&records, 1000, 0);
	put_sample(&records, 4000, 0);
	/* Finished rounds of this file. */
	fixture_record(&records, PERF_USER_FINISHED_ROUND, 0, NULL, 0);
	fixture_record(&records, PERF_USER_FINISHED_ROUND, 0, NULL, 0);
	fixture_file(file, &attr, 1, &records);
	buf_done(&records);
}

static void pack(const struct buf *bytes, struct buf *packed)
{
	z_stream z = {.next_in = (unsigned char *)bytes->data, .avail_in = (unsigned)bytes->size};

	buf_pad(packed, '\0', bytes->size + 1024);
	z.next_out = (unsigned char *)packed->data;
	z.avail_out = (unsigned)packed->size;
	CHECK_EQ(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	CHECK_EQ(deflate(&z, Z_FINISH), Z_STREAM_END);
	packed->size = z.total_out;
	deflateEnd(&z);
}

static void a_packed_file_is_unpacked(void)
{
	struct buf file = {0}, packed = {0};
	struct fixture_read got;

	make_file(&file);
	pack(&file, &packed);
	put_file("packed.gz", &packed);
	fixture_read_file(&got, path_in("packed.gz"));
	CHECK_EQ(got.rc, 0);
	CHECK_EQ(got.r.samples, 2);
	fixture_done(&got);
	/* Truncated: the error names the byte. */
	packed.size -= 12;
	put_file("packed.gz", &packed);
	fixture_read_file(&got, path_in("packed.gz"));
	CHECK_EQ(got.rc, -EBADMSG);
	CHECK(strstr(got.err.text, "is cut short"));
	fixture_done(&got);
	unlink(path_in("packed.gz"));
	buf_done(&file);
	buf_done(&packed);
}

static void unpacking_has_limits(void)
{
	struct gunzip_limits limits = {.bytes_max = 4096, .advice = "use gunzip"};
	struct buf zeros = {0}, packed = {0}, twice = {0}, out = {0};
	struct error err = {0};

	buf_pad(&zeros, '\0', 1 << 20);
	pack(&zeros, &packed);
	CHECK_EQ(gunzip("zeros.gz", packed.data, packed.size, &limits, &out, &err), -EFBIG);
	CHECK(strstr(err.text, "zeros.gz unpacks to more than 0 MB"));
	CHECK(strstr(err.text, "use gunzip"));
	buf_clear(&out);
	limits.bytes_max = 1 << 20;
	CHECK_EQ(gunzip("zeros.gz", packed.data, packed.size, &limits, &out, &err), 0);
	CHECK_EQ(out.size, 1 << 20);
	/* Several streams one after the other, which a gzip file may contain. */
	buf_clear(&out);
	limits.bytes_max = 1 << 22;
	buf_add(&twice, packed.data, packed.size);
	buf_add(&twice, packed.data, packed.size);
	CHECK_EQ(gunzip("zeros.gz", twice.data, twice.size, &limits, &out, &err), 0);
	CHECK_EQ(out.size, 2 << 20);
	buf_done(&zeros);
	buf_done(&packed);
	buf_done(&twice);
	buf_done(&out);
}

/* perf record --threads: the records of other threads are in files without a header. */
static void a_directory_is_read_as_one_file(void)
{
	struct buf file = {0}, first = {0}, second = {0}, none = {0};
	struct fixture_read got;

	make_file(&file);
	put_sample(&first, 2000, 1);
	put_sample(&second, 3000, 2);
	put_file("data", &file);
	put_file("data.0", &first);
	put_file("data.1", &none);
	put_file("data.2", &second);
	CHECK(perf_data_is_directory(folder));
	fixture_read_file(&got, folder);
	CHECK_EQ(got.rc, 0);
	CHECK_EQ(got.r.samples, 4);
	CHECK_EQ(got.r.out_of_order, 0);
	CHECK_EQ(got.r.bytes, file.size + first.size + second.size);
	CHECK(strstr(buf_text(&got.text), "2000 100/101 cpu=1"));
	CHECK(strstr(buf_text(&got.text), "2000 100") < strstr(buf_text(&got.text), "3000 100"));
	CHECK(strstr(buf_text(&got.text), "3000 100") < strstr(buf_text(&got.text), "4000 100"));
	fixture_done(&got);
	unlink(path_in("data.0"));
	unlink(path_in("data.1"));
	unlink(path_in("data.2"));
	/* --kcore: one file, and a copy of the kernel. */
	fixture_read_file(&got, folder);
	CHECK_EQ(got.r.samples, 2);
	fixture_done(&got);
	put_file("data", &none);
	fixture_read_file(&got, folder);
	CHECK_EQ(got.rc, -EINVAL);
	CHECK(strstr(got.err.text, "/data is empty"));
	fixture_done(&got);
	unlink(path_in("data"));
	CHECK(!perf_data_is_directory(folder));
	buf_done(&file);
	buf_done(&first);
	buf_done(&second);
}

static void the_first_format_names_the_way_out(void)
{
	struct fixture_read got;
	struct buf file = {0};

	make_file(&file);
	memcpy(file.data, PERF_DATA_MAGIC_OLD, 8);
	CHECK(perf_data_recognise(file.data, file.size));
	fixture_read(&got, file.data, file.size);
	CHECK_EQ(got.rc, -EINVAL);
	CHECK(strstr(got.err.text, "perf inject -i test.data -o NEW"));
	fixture_done(&got);
	buf_done(&file);
}

/* perf writes an empty CPUDESC if /proc/cpuinfo has no model name. */
static void an_empty_feature_is_no_damage(void)
{
	struct perf_data_header *h;
	struct fixture_read got;
	struct buf file = {0};

	make_file(&file);
	h = (struct perf_data_header *)file.data;
	h->features[0] = UINT64_C(1) << PERF_FEATURE_CPUDESC | UINT64_C(1) << PERF_FEATURE_CMDLINE;
	for (int i = 0; i < 2; i++) {
		fixture_u64(&file, file.size);
		fixture_u64(&file, 0);
	}
	h = (struct perf_data_header *)file.data;
	for (int i = 0; i < 2; i++) {
		uint64_t end = file.size;

		memcpy(file.data + h->data.offset + h->data.size + i * 16, &end, sizeof(end));
	}
	fixture_read(&got, file.data, file.size);
	CHECK_EQ(got.rc, 0);
	CHECK_EQ(got.r.samples, 2);
	CHECK_EQ(got.r.warnings.count, 0);
	CHECK(!got.r.cpu_description);
	fixture_done(&got);
	buf_done(&file);
}

static int truncate_now(void *path, const struct recording *r, struct error *err)
{
	return truncate(path, 4096);
}

/* Another program truncates a file of the recording after its header was read. */
static void read_while_truncated(const char *recording, const char *truncated)
{
	char *path = xstrdup(path_in(truncated));
	struct event_sink sink = {.ctx = path, .begin = truncate_now};
	struct recording r;
	struct error err = {0};

	recording_init(&r);
	CHECK_EQ(perf_data_read(recording, NULL, &r, &sink, &err), -EIO);
	CHECK(strstr(err.text, recording) && strstr(err.text, "became shorter while it was read"));
	recording_done(&r);
	free(path);
}

static void a_file_that_becomes_shorter_is_an_error(void)
{
	struct perf_event_attr attr = fixture_clock();
	struct buf file = {0}, records = {0};

	for (uint64_t i = 1; i <= 2000; i++)
		put_sample(&records, 1000 * i, 0);
	fixture_file(&file, &attr, 1, &records);
	put_file("data", &file);
	read_while_truncated(path_in("data"), "data");
	put_file("data", &file);
	put_file("data.0", &records);
	read_while_truncated(folder, "data.0");
	unlink(path_in("data"));
	unlink(path_in("data.0"));
	buf_done(&file);
	buf_done(&records);
}

int main(void)
{
	if (!mkdtemp(folder)) {
		printf("Bail out! no temporary directory\n");
		return 1;
	}
	RUN(a_packed_file_is_unpacked);
	RUN(unpacking_has_limits);
	RUN(a_directory_is_read_as_one_file);
	RUN(a_file_that_becomes_shorter_is_an_error);
	RUN(the_first_format_names_the_way_out);
	RUN(an_empty_feature_is_no_damage);
	rmdir(folder);
	return check_end();
}
