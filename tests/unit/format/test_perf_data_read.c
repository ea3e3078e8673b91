/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files of other recorders: their layouts and record types.
 */
#include "base/memory/xalloc.h"
#include "format/perf/tracepoint_format.h"
#include "format/perf/tracing_data.h"
#include "perf_data_fixture.h"

/* sample_id of fixture_clock(): TID, TIME, CPU, IDENTIFIER */
static void put_trailer(struct buf *b, uint64_t time_ns, uint64_t id)
{
	fixture_u32(b, 100, 101);
	fixture_u64(b, time_ns);
	fixture_u32(b, 2, 0);
	fixture_u64(b, id);
}

static void samples_of_all_rings_come_in_order(void)
{
	static const char want[] = "10 20 30 40 50 60 ";
	struct perf_event_attr attr = fixture_clock();
	struct buf records = {0}, times = {0};
	struct fixture_read got;

	fixture_add_sample(&records, 20, 0);
	fixture_add_sample(&records, 40, 0);
	fixture_add_sample(&records, 10, 1);
	perf_record_finished_round(&records);
	fixture_add_sample(&records, 50, 0);
	fixture_add_sample(&records, 30, 1);
	fixture_add_sample(&records, 60, 1);
	perf_record_finished_round(&records);
	fixture_read_records(&got, &attr, &records);
	for (char *line = strtok(got.text.data, "\n"); line; line = strtok(NULL, "\n"))
		buf_addf(&times, "%d ", atoi(line));
	CHECK_STR(buf_text(&times), want);
	CHECK_EQ(got.r.out_of_order, 0);
	CHECK_EQ(got.r.records, 8);
	buf_done(&times);
	buf_done(&records);
	fixture_done(&got);
}

static void time_range_keeps_samples_alone(void)
{
	const struct perf_data_read_options options = {.from_ns = 20, .to_ns = 40};
	struct event comm = {
	        .kind = EVENT_COMM, .pid = 1, .tid = 1, .time_ns = 5, .comm = {.name = "a"}};
	struct perf_event_attr attr = fixture_clock();
	struct buf records = {0}, file = {0};
	struct fixture_read got;

	fixture_encode(&records, &comm);
	for (uint64_t t = 10; t <= 40; t += 10)
		fixture_add_sample(&records, t, 0);
	fixture_file(&file, &attr, 1, &records);
	fixture_read_with(&got, file.data, file.size, &options);
	CHECK_EQ(got.r.samples, 2);
	CHECK_EQ(got.r.first_sample_ns, 20);
	CHECK_EQ(got.r.last_sample_ns, 30);
	CHECK(strstr(buf_text(&got.text), "comm a"));
	buf_done(&records);
	buf_done(&file);
	fixture_done(&got);
}

static void records_of_the_kernel_alone(void)
{
	struct perf_event_attr attr = fixture_clock();
	struct buf records = {0}, body = {0};
	struct fixture_read got;
	const char *text;

	fixture_u32(&body, 7, 8); /* MMAP, whose name is not terminated */
	fixture_u64(&body, 0x1000);
	fixture_u64(&body, 0x2000);
	fixture_u64(&body, 0x3000);
	buf_add(&body, "/bin/nam", 8);
	put_trailer(&body, 1, 1);
	fixture_record(&records, PERF_RECORD_MMAP, 2, body.data, body.size);
	buf_clear(&body);
	fixture_u64(&body, 2); /* THROTTLE: time, id, stream */
	fixture_u64(&body, 1);
	fixture_u64(&body, 1);
	put_trailer(&body, 2, 1);
	fixture_record(&records, PERF_RECORD_THROTTLE, 0, body.data, body.size);
	fixture_record(&records, PERF_RECORD_UNTHROTTLE, 0, body.data, body.size);
	fixture_record(&records, PERF_RECORD_KSYMBOL, 0, body.data, body.size);
	fixture_record(&records, 60, 0, body.data, body.size);  /* of a later kernel */
	fixture_record(&records, 200, 0, body.data, body.size); /* of a later perf */
	fixture_read_records(&got, &attr, &records);
	text = buf_text(&got.text);
	CHECK(strstr(text, "1 7/8 cpu=2 mode=2 mmap 1000+2000@3000 0:0 0 0 prot=0 flags=0 id= x "
	                   "/bin/nam\n"));
	CHECK(strstr(text, "2 100/101 cpu=2 mode=0 throttle stop\n"));
	CHECK(strstr(text, "throttle go\n"));
	CHECK(strstr(text, "kernel code "));
	CHECK_EQ(got.r.unknown_records, 2);
	CHECK_EQ(got.r.records, 6);
	CHECK(fixture_warned(&got, "was not closed"));
	CHECK_EQ(got.r.warnings.count, 1);
	buf_done(&records);
	buf_done(&body);
	fixture_done(&got);
}

static void put_map(struct buf *records, const uint8_t place[24])
{
	struct buf body = {0};

	fixture_u32(&body, 7, 8);
	fixture_u64(&body, 0x1000);
	fixture_u64(&body, 0x2000);
	fixture_u64(&body, 0);
	buf_add(&body, place, 24);
	fixture_u32(&body, 5, 2);
	buf_add(&body, "/bin/a\0", 8);
	put_trailer(&body, 1, 1);
	fixture_record(records, PERF_RECORD_MMAP2, 2 | 1 << 14, body.data, body.size);
	buf_done(&body);
}

/* If one listener requested build-ids, the kernel sets the bit for all listeners. */
static void build_ids_that_are_none(void)
{
	static const uint8_t places[][24] = {
	        {254, [8] = 0x3b, 0xf8, 3},               /* device 254:0, inode 260155 */
	        {8, [4] = 1, [8] = 9, [16] = 1, 2, 3, 4}, /* 8:1, inode 9, generation */
	        {3, 1, [4] = 2, [8] = 9},                 /* 259:2, inode 9 */
	        {20, [4] = 1, 2, 3, [23] = 20},           /* as perf inject writes them */
	        {8, [4] = 1, 2, 3, 4, 5, 6, 7, 8},
	};
	struct perf_event_attr attr = fixture_clock();
	struct buf records = {0};
	struct fixture_read got;
	const char *text;

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
		put_map(&records, places[i]);
	fixture_read_records(&got, &attr, &records);
	text = buf_text(&got.text);
	CHECK(strstr(text, " 254:0 260155 0 prot=5 flags=2 id= x /bin/a\n"));
	CHECK(strstr(text, " 8:1 9 67305985 prot=5 flags=2 id= x /bin/a\n"));
	CHECK(strstr(text, " 259:2 9 0 prot=5 flags=2 id= x /bin/a\n"));
	CHECK(strstr(text, " id=0102030000000000000000000000000000000014 x /bin/a\n"));
	CHECK(strstr(text, " id=0102030405060708 x /bin/a\n"));
	fixture_done(&got);
	attr.build_id = 1;
	buf_clear(&records);
	put_map(&records, places[1]);
	fixture_read_records(&got, &attr, &records);
	CHECK(strstr(buf_text(&got.text),
	             " 0:0 0 0 prot=5 flags=2 id=0100000009000000 x /bin/a\n"));
	buf_done(&records);
	fixture_done(&got);
}

/* READ of each format precedes the chain, and its size depends on the format. */
static void samples_with_counter_values(void)
{
	for (uint64_t format = 0; format < 32; format++) {
		struct perf_event_attr attr = fixture_clock();
		bool group = format & PERF_FORMAT_GROUP;
		size_t each = 1 + !!(format & PERF_FORMAT_ID) + !!(format & PERF_FORMAT_LOST);
		size_t words = !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
		               !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING) + each * (group ? 3 : 1);
		struct buf records = {0}, body = {0};
		struct fixture_read got;

		attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN;
		attr.read_format = format;
		fixture_u64(&body, 0x77);
		if (group)
			fixture_u64(&body, 3);
		for (size_t i = 0; i < words; i++)
			fixture_u64(&body, 1000 + i);
		fixture_u64(&body, 2);
		fixture_u64(&body, CHAIN_CONTEXT_USER);
		fixture_u64(&body, 0xabc);
		fixture_record(&records, PERF_RECORD_SAMPLE, 2, body.data, body.size);
		fixture_read_records(&got, &attr, &records);
		CHECK_STR(buf_text(&got.text),
		          "0 -1/-1 cpu=-1 mode=2 sample ip=77 period=1000000 addr=0 "
		          "fffffffffffffe00 abc\n");
		buf_done(&records);
		buf_done(&body);
		fixture_done(&got);
	}
}

static void fields_after_the_chain_are_skipped(void)
{
	struct perf_event_attr attr = fixture_clock();
	struct buf records = {0}, body = {0};
	struct fixture_read got;

	attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_ADDR | PERF_SAMPLE_CALLCHAIN |
	                   PERF_SAMPLE_RAW | PERF_SAMPLE_STACK_USER | PERF_SAMPLE_DATA_SRC;
	fixture_u32(&body, 5, 6);
	fixture_u64(&body, 0xadd);
	fixture_u64(&body, 1);
	fixture_u64(&body, 0x99);
	fixture_u32(&body, 12, UINT32_MAX); /* raw: 12 bytes after its size */
	fixture_u64(&body, UINT64_MAX);
	fixture_u64(&body, 16); /* stack: size, bytes, used size */
	for (int i = 0; i < 3; i++)
		fixture_u64(&body, UINT64_MAX);
	for (int i = 0; i < 14; i++)
		fixture_u64(&body, UINT64_MAX);
	fixture_record(&records, PERF_RECORD_SAMPLE, 1, body.data, body.size);
	fixture_read_records(&got, &attr, &records);
	CHECK_STR(buf_text(&got.text),
	          "0 5/6 cpu=-1 mode=1 sample ip=0 period=1000000 addr=add 99\n");
	buf_done(&records);
	buf_done(&body);
	fixture_done(&got);
}

static void counters_of_ended_tasks(void)
{
	struct perf_event_attr attr = fixture_clock();
	struct buf records = {0}, body = {0};
	struct fixture_read got;

	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	fixture_u32(&body, 5, 6);
	for (uint64_t i = 10; i < 13; i++)
		fixture_u64(&body, i);
	put_trailer(&body, 3, 1);
	fixture_record(&records, PERF_RECORD_READ, 0, body.data, body.size);
	fixture_read_records(&got, &attr, &records);
	CHECK_STR(buf_text(&got.text), "3 5/6 cpu=2 mode=0 read 10 11 12\n");
	buf_done(&records);
	buf_done(&body);
	fixture_done(&got);
}

/* Each event has its own fields; the identifier at the beginning selects the event of a record. */
static void events_of_different_layout(void)
{
	struct perf_event_attr attrs[2] = {fixture_clock(), fixture_clock()};
	struct buf records = {0}, body = {0}, file = {0};
	struct fixture_read got;

	attrs[0].sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TIME;
	attrs[1].sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR;
	attrs[1].config = PERF_COUNT_SW_PAGE_FAULTS;
	fixture_u64(&body, 2);
	fixture_u64(&body, 40);
	fixture_u64(&body, 0xadd);
	fixture_record(&records, PERF_RECORD_SAMPLE, 2, body.data, body.size);
	buf_clear(&body);
	fixture_u64(&body, 1);
	fixture_u64(&body, 0x77);
	fixture_u64(&body, 30);
	fixture_record(&records, PERF_RECORD_SAMPLE, 2, body.data, body.size);
	buf_clear(&body);
	fixture_u64(&body, 99); /* of an unknown event */
	fixture_u64(&body, 0x77);
	fixture_u64(&body, 50);
	fixture_record(&records, PERF_RECORD_SAMPLE, 2, body.data, body.size);
	fixture_file(&file, attrs, 2, &records);
	fixture_read(&got, file.data, file.size);
	CHECK_STR(buf_text(&got.text),
	          "30 -1/-1 cpu=-1 mode=2 sample ip=77 period=1000000 addr=0\n"
	          "40 -1/-1 cpu=-1 mode=2 sample ip=0 period=1000000 addr=add\n");
	CHECK_EQ(got.attr_counts[0], 1);
	CHECK_EQ(got.attr_counts[1], 1);
	CHECK_EQ(got.r.unknown_records, 1);
	CHECK_STR(got.r.attrs.items[1].name, "page-faults");
	CHECK_EQ(got.r.attrs.items[1].role, ATTR_COUNT);
	buf_done(&records);
	buf_done(&body);
	buf_done(&file);
	fixture_done(&got);
}

/* A sample and the next COMM record, of an event with or without CPU; the id is a field. */
static void put_with_id(struct buf *records, uint64_t id, uint64_t time_ns, bool cpu)
{
	struct buf body = {0};

	fixture_u64(&body, 0x400100 + id);
	fixture_u32(&body, 100, 101);
	fixture_u64(&body, time_ns);
	fixture_u64(&body, id);
	if (cpu)
		fixture_u32(&body, 3, 0);
	fixture_u64(&body, 7000 + id);
	fixture_record(records, PERF_RECORD_SAMPLE, 2, body.data, body.size);
	buf_clear(&body);
	fixture_u32(&body, 100, 101);
	buf_add(&body, "command", 8);
	fixture_u32(&body, 100, 101);
	fixture_u64(&body, time_ns + 1);
	fixture_u64(&body, id);
	if (cpu)
		fixture_u32(&body, 3, 0);
	fixture_record(records, PERF_RECORD_COMM, 0, body.data, body.size);
	buf_done(&body);
}

/* Ids come with the attrs and from EVENT_DESC: known ids are unchanged, new ones are added. */
static void duplicate_ids_hide_no_others(void)
{
	static const uint64_t first[] = {1}, second[] = {1, 2, 2, 3};
	struct perf_event_attr attrs[2] = {fixture_clock(), fixture_clock()};
	struct perf_decoder d;
	struct buf record = {0};

	attrs[0].sample_type = attrs[1].sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP;
	perf_decoder_init(&d);
	perf_decoder_add_attr(&d, &attrs[0], first, 1);
	perf_decoder_add_attr(&d, &attrs[1], second, 4);
	perf_decoder_seal(&d);
	for (uint64_t id = 1; id <= 4; id++) {
		uint64_t body[] = {id, 0x77};
		struct event e = {0};
		enum perf_decoded decoded;

		buf_clear(&record);
		fixture_record(&record, PERF_RECORD_SAMPLE, 2, body, sizeof(body));
		decoded = perf_decoder_decode(&d, (const uint8_t *)record.data, record.size, &e);
		CHECK_EQ(decoded, id < 4 ? PERF_DECODED : PERF_DECODED_UNKNOWN);
		CHECK_EQ(e.attr, id == 1 ? 0 : id < 4 ? 1 : EVENT_NO_ATTR);
	}
	perf_decoder_done(&d);
	buf_done(&record);
}

/*
 * Linux adds the size of the trailer once for each event that gets one of these records. What
 * follows the trailer are old bytes of the ring.
 */
static void records_that_several_recorders_get_end_at_their_trailer(void)
{
	static const char name[] = "bpf_prog_0123456789abcdef_spin\0"; /* 32 bytes, as padded */
	static const uint64_t first[] = {1}, second[] = {2, 3};
	struct perf_event_attr attrs[2] = {fixture_clock(), fixture_clock()};

	for (int count = 1; count <= 2; count++) {
		struct perf_decoder d;

		perf_decoder_init(&d);
		perf_decoder_add_attr(&d, &attrs[0], first, 1);
		if (count > 1)
			perf_decoder_add_attr(&d, &attrs[1], second, 2);
		perf_decoder_seal(&d);
		for (int kind = 0; kind < 3; kind++)
			for (int more = 0; more <= 3; more++) {
				static const uint32_t types[] = {PERF_RECORD_KSYMBOL,
				                                 PERF_RECORD_BPF_EVENT,
				                                 PERF_RECORD_TEXT_POKE};
				const uint8_t *record;
				struct buf body = {0}, out = {0};
				struct event e = {0};
				size_t whole;

				fixture_u64(&body, 0xffffffffc0001000);
				if (!kind) {
					fixture_u32(&body, 512, PERF_RECORD_KSYMBOL_TYPE_BPF);
					buf_add(&body, name, sizeof(name));
				} else if (kind == 1) {
					fixture_u64(&body, 77);
				} else {
					fixture_u32(&body, 5 | 2 << 16, 0); /* 5 and 2 bytes */
					fixture_u64(&body, 0xcc);
				}
				put_trailer(&body, 4711, (uint64_t)count);
				whole = body.size + sizeof(struct perf_event_header);
				for (int i = 0; i < more * 4; i++)
					fixture_u64(&body, UINT64_C(0x40000000000003));
				fixture_record(&out, types[kind], 0, body.data, body.size);
				record = (const uint8_t *)out.data;
				CHECK_EQ(perf_decoder_written(&d, record, out.size), whole);
				CHECK_EQ(perf_decoder_time(&d, record, out.size), 4711);
				CHECK_EQ(perf_decoder_decode(&d, record, out.size, &e),
				         PERF_DECODED);
				CHECK_EQ(e.time_ns, 4711);
				CHECK_EQ(e.attr, count - 1);
				CHECK_EQ(e.cpu, 2);
				CHECK_EQ(e.tid, 101);
				if (!kind)
					CHECK_STR(e.kernel_code.name, name);
				buf_done(&body);
				buf_done(&out);
			}
		perf_decoder_done(&d);
	}
}

/* Records without an id belong to the only event without one. */
static void events_with_and_without_an_id(void)
{
	struct perf_event_attr attrs[2] = {fixture_clock(), fixture_clock()};
	struct buf records = {0}, body = {0}, file = {0};
	struct fixture_read got;

	attrs[0].sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TIME;
	attrs[1].sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD;
	fixture_u64(&body, 1);
	fixture_u64(&body, 0x77);
	fixture_u64(&body, 30);
	fixture_record(&records, PERF_RECORD_SAMPLE, 2, body.data, body.size);
	buf_clear(&body);
	fixture_u64(&body, 0x88);
	fixture_u64(&body, 40);
	fixture_u64(&body, 9);
	fixture_record(&records, PERF_RECORD_SAMPLE, 2, body.data, body.size);
	fixture_file(&file, attrs, 2, &records);
	fixture_read(&got, file.data, file.size);
	CHECK_STR(buf_text(&got.text), "30 -1/-1 cpu=-1 mode=2 sample ip=77 period=1000000 addr=0\n"
	                               "40 -1/-1 cpu=-1 mode=2 sample ip=88 period=9 addr=0\n");
	CHECK_EQ(got.attr_counts[0], 1);
	CHECK_EQ(got.attr_counts[1], 1);
	buf_done(&records);
	buf_done(&body);
	buf_done(&file);
	fixture_done(&got);
}

/*
 * Without identifiers at the beginning, the id has the same place in samples, but not in other
 * records.
 */
static void events_that_differ_in_the_cpu_field(void)
{
	for (int first = 0; first < 2; first++) {
		struct perf_event_attr attrs[2] = {fixture_clock(), fixture_clock()};
		struct buf records = {0}, file = {0};
		struct fixture_read got;

		for (int i = 0; i < 2; i++)
			attrs[i].sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			                       PERF_SAMPLE_ID | PERF_SAMPLE_PERIOD;
		attrs[first].sample_type |= PERF_SAMPLE_CPU;
		attrs[1].config = PERF_COUNT_SW_PAGE_FAULTS;
		put_with_id(&records, 1, 30, first == 0);
		put_with_id(&records, 2, 40, first == 1);
		fixture_file(&file, attrs, 2, &records);
		fixture_read(&got, file.data, file.size);
		CHECK_STR(buf_text(&got.text),
		          first ? "30 100/101 cpu=-1 mode=2 sample ip=400101 period=7001 addr=0\n"
		                  "31 100/101 cpu=-1 mode=0 comm command\n"
		                  "40 100/101 cpu=3 mode=2 sample ip=400102 period=7002 addr=0\n"
		                  "41 100/101 cpu=3 mode=0 comm command\n"
		                : "30 100/101 cpu=3 mode=2 sample ip=400101 period=7001 addr=0\n"
		                  "31 100/101 cpu=3 mode=0 comm command\n"
		                  "40 100/101 cpu=-1 mode=2 sample ip=400102 period=7002 addr=0\n"
		                  "41 100/101 cpu=-1 mode=0 comm command\n");
		CHECK_EQ(got.attr_counts[0], 2);
		CHECK_EQ(got.attr_counts[1], 2);
		CHECK_EQ(got.r.unknown_records, 0);
		buf_done(&records);
		buf_done(&file);
		fixture_done(&got);
	}
}

static void roles_follow_type_and_config(void)
{
	struct perf_event_attr attrs[5];
	struct buf records = {0}, file = {0};
	struct fixture_read got;

	for (size_t i = 0; i < 5; i++)
		attrs[i] = fixture_clock();
	attrs[0].freq = 1;
	attrs[0].sample_freq = 3000;
	attrs[1].config = PERF_COUNT_SW_CONTEXT_SWITCHES;
	attrs[1].sample_period = 1;
	attrs[2].type = PERF_TYPE_HARDWARE;
	attrs[2].config = UINT64_C(5) << 32 | PERF_COUNT_HW_CPU_CYCLES;
	attrs[3].type = PERF_TYPE_HARDWARE;
	attrs[3].config = PERF_COUNT_HW_INSTRUCTIONS;
	attrs[4].sample_period = 900000; /* longer than a 3000th of a second: the witness */
	fixture_file(&file, attrs, 5, &records);
	fixture_read(&got, file.data, file.size);
	CHECK_EQ(got.r.attrs.items[0].role, ATTR_CLOCK);
	CHECK_EQ(got.r.attrs.items[0].period_ns, 333333);
	CHECK_EQ(got.r.attrs.items[0].frequency_hz, 3000);
	CHECK_EQ(got.r.attrs.items[1].role, ATTR_SWITCH);
	CHECK_EQ(got.r.attrs.items[2].role, ATTR_CLOCK);
	CHECK_STR(got.r.attrs.items[2].name, "cycles");
	CHECK_EQ(got.r.attrs.items[2].period_ns, 0);
	CHECK_EQ(got.r.attrs.items[3].role, ATTR_COUNT);
	CHECK_EQ(got.r.attrs.items[4].role, ATTR_WITNESS);
	CHECK_EQ(got.r.clockid, 1);
	buf_done(&file);
	fixture_done(&got);
}

/* A recording from a pipe: attrs and features are records. */
static void pipes_are_read(void)
{
	struct perf_event_attr attr = fixture_clock();
	struct buf file = {0}, body = {0};
	struct fixture_read got;

	attr.size = PERF_ATTR_SIZE_VER1; /* shorter than the present size */
	buf_add(&file, PERF_DATA_MAGIC, 8);
	fixture_u64(&file, PERF_DATA_PIPE_HEADER_SIZE);
	buf_add(&body, &attr, attr.size);
	fixture_u64(&body, 1);
	fixture_record(&file, PERF_USER_ATTR, 0, body.data, body.size);
	buf_clear(&body);
	fixture_u64(&body, PERF_FEATURE_HOSTNAME);
	buf_add(&body, "\10\0\0\0pipe\0\0\0\0\0\0\0\0", 16);
	fixture_record(&file, PERF_USER_FEATURE, 0, body.data, body.size);
	fixture_add_sample(&file, 10, 1);
	fixture_read(&got, file.data, file.size);
	CHECK_EQ(got.rc, 0);
	CHECK_EQ(got.r.samples, 1);
	CHECK_STR(got.r.hostname, "pipe");
	CHECK(!got.r.truncated);
	CHECK_EQ(got.r.warnings.count, 0);
	buf_done(&file);
	buf_done(&body);
	fixture_done(&got);
}

/* Of a pipe, the descriptions of tracepoints are behind a record of 12 bytes with their size. */
static void pipes_name_their_tracepoints(void)
{
	struct perf_event_attr attr = fixture_clock();
	struct tracepoint t = {.system = xstrdup("probe_prog"),
	                       .format = xstrdup("name: main\nID: 77\n")};
	struct recording described;
	struct buf file = {0}, section = {0}, body = {0};
	struct fixture_read got;

	attr.type = PERF_TYPE_TRACEPOINT;
	attr.config = 77;
	recording_init(&described);
	CHECK(tracepoint_format_parse(&t));
	vec_push(&described.tracepoints, t);
	tracing_data_encode(&section, &described);
	buf_add(&file, PERF_DATA_MAGIC, 8);
	fixture_u64(&file, PERF_DATA_PIPE_HEADER_SIZE);
	buf_add(&body, &attr, attr.size);
	fixture_u64(&body, 1);
	fixture_record(&file, PERF_USER_ATTR, 0, body.data, body.size);
	buf_add(&file, &(uint32_t){PERF_USER_TRACING_DATA}, 4);
	buf_add(&file, &(uint16_t[]){0, 12}, 4);
	buf_add(&file, &(uint32_t){(uint32_t)section.size}, 4);
	buf_add(&file, section.data, section.size);
	buf_pad(&file, '\0', (8 - section.size % 8) % 8);
	fixture_add_sample(&file, 10, 1);
	fixture_read(&got, file.data, file.size);
	CHECK_EQ(got.rc, 0);
	CHECK_EQ(got.r.samples, 1);
	CHECK_STR(got.r.attrs.items[0].name, "probe_prog:main");
	CHECK_EQ(got.r.warnings.count, 0);
	buf_done(&file);
	buf_done(&section);
	buf_done(&body);
	recording_done(&described);
	fixture_done(&got);
}

static void payloads_after_records_are_skipped(void)
{
	struct perf_event_attr attr = fixture_clock();
	struct buf records = {0}, body = {0};
	struct fixture_read got;

	fixture_u64(&body, 24); /* AUXTRACE: bytes that follow the record */
	for (int i = 0; i < 4; i++)
		fixture_u64(&body, 0);
	fixture_record(&records, PERF_USER_AUXTRACE, 0, body.data, body.size);
	buf_pad(&records, '\0', 24); /* invalid as a record, which would end the reading */
	fixture_add_sample(&records, 10, 1);
	fixture_read_records(&got, &attr, &records);
	CHECK_EQ(got.r.samples, 1);
	CHECK_EQ(got.r.records, 2);
	buf_done(&records);
	buf_done(&body);
	fixture_done(&got);
}

/* Old recordings have no trailer, so only the fork record's own time is known. */
static void records_without_trailer(void)
{
	struct event e = {.kind = EVENT_FORK, .pid = 2, .tid = 2, .time_ns = 6, .fork = {1, 1, 0}};
	struct perf_event_attr attr = fixture_clock();
	struct buf records = {0};
	struct fixture_read got;

	attr.sample_id_all = 0;
	CHECK_EQ(perf_record_encode(&records, &attr, 1, &e, NULL), 0);
	fixture_read_records(&got, &attr, &records);
	CHECK_STR(buf_text(&got.text), "6 2/2 cpu=-1 mode=0 fork of 1/1\n");
	buf_done(&records);
	fixture_done(&got);
}

int main(void)
{
	RUN(samples_of_all_rings_come_in_order);
	RUN(time_range_keeps_samples_alone);
	RUN(records_of_the_kernel_alone);
	RUN(build_ids_that_are_none);
	RUN(samples_with_counter_values);
	RUN(fields_after_the_chain_are_skipped);
	RUN(counters_of_ended_tasks);
	RUN(events_of_different_layout);
	RUN(duplicate_ids_hide_no_others);
	RUN(records_that_several_recorders_get_end_at_their_trailer);
	RUN(events_with_and_without_an_id);
	RUN(events_that_differ_in_the_cpu_field);
	RUN(roles_follow_type_and_config);
	RUN(pipes_are_read);
	RUN(pipes_name_their_tracepoints);
	RUN(payloads_after_records_are_skipped);
	RUN(records_without_trailer);
	return check_end();
}
