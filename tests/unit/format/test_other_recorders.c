/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recordings as other recorders write them: events that count no time, fields that are missing. */
#include "perf_data_fixture.h"
#include "report_print.h"
#include "profile/profile_builder.h"
#include "sql_fixture.h"
#include "view/samples/report.h"

#define MS UINT64_C(1000000)
#define START (1000 * MS)
#define ADDRESS 0x400100
#define KERNEL_ADDRESS UINT64_C(0xffffffff81000100)

/* Cycles of the whole machine, as `perf record -a` writes them. */
static struct perf_event_attr machine_cycles(void)
{
	return (struct perf_event_attr){
	        .type = PERF_TYPE_HARDWARE,
	        .size = sizeof(struct perf_event_attr),
	        .config = PERF_COUNT_HW_CPU_CYCLES,
	        .freq = 1,
	        .sample_freq = 4000,
	        .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
	                       PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD,
	        .sample_id_all = 1,
	        .inherit = 1,
	        .mmap = 1,
	        .comm = 1,
	        .task = 1,
	};
}

struct made {
	struct perf_event_attr attrs[4];
	size_t attr_count;
	uint32_t cpus; /* as the recorder reported; 0: not reported */
	struct buf records;
};

/* The number of the event, its CPU, its process, its time, and the sample's period. */
struct made_sample {
	unsigned attr;
	uint32_t cpu;
	int32_t pid;
	bool kernel;
	uint64_t time_ns, period;
};

static void put_sample(struct made *m, struct made_sample s)
{
	const uint64_t type = m->attrs[s.attr].sample_type;
	struct buf body = {0};

	if (type & PERF_SAMPLE_IDENTIFIER)
		fixture_u64(&body, s.attr + 1);
	if (type & PERF_SAMPLE_IP)
		fixture_u64(&body, s.kernel ? KERNEL_ADDRESS : ADDRESS);
	if (type & PERF_SAMPLE_TID)
		fixture_u32(&body, (uint32_t)s.pid, (uint32_t)s.pid);
	if (type & PERF_SAMPLE_TIME)
		fixture_u64(&body, s.time_ns);
	if (type & PERF_SAMPLE_CPU)
		fixture_u32(&body, s.cpu, 0);
	if (type & PERF_SAMPLE_PERIOD)
		fixture_u64(&body, s.period);
	fixture_record(&m->records, PERF_RECORD_SAMPLE,
	               s.kernel ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER, body.data,
	               body.size);
	buf_done(&body);
}

/* The contents of a report of the recording. */
struct told {
	struct profile *profile;
	struct symbolizer *symbols;
	struct report *report;
	struct buf text, json;
};

static void without_spaces(struct buf *text)
{
	size_t used = 0;

	for (size_t i = 0; i < text->size; i++)
		if (text->data[i] != ' ' && text->data[i] != '\n')
			text->data[used++] = text->data[i];
	text->size = used;
}

static void tell(struct told *t, const struct made *m, const char *event)
{
	struct report_request options = {.limit = -1, .event = event};
	struct document_text_options text = {0};
	struct symbol_options none = {0};
	struct recording *r = xcalloc(1, sizeof(*r));
	struct buf file = {0};
	struct profile_builder *b;
	struct event_sink sink;
	struct error err = {0};

	*t = (struct told){.profile = profile_new()};
	recording_init(r);
	r->cpus_online = m->cpus;
	vec_push(&t->profile->recordings, r);
	b = profile_builder_new(t->profile,
	                        &(struct profile_builder_options){.window_ns = 1000 * MS});
	sink = profile_builder_sink(b);
	fixture_file(&file, m->attrs, m->attr_count, &m->records);
	CHECK_EQ(perf_data_read_memory("perf.data", file.data, file.size, NULL, r, &sink, &err), 0);
	profile_builder_free(b);
	profile_weigh_idle(t->profile);
	profile_seal(t->profile);
	t->symbols = symbolizer_new(&t->profile->images, &none);
	CHECK_EQ(report_new(&t->report, t->profile, t->symbols, &options, &err), 0);
	report_text(t->report, &text, &t->text);
	report_json(t->report, false, &t->json);
	without_spaces(&t->json);
	buf_done(&file);
}

static void told_done(struct told *t)
{
	report_free(t->report);
	symbolizer_free(t->symbols);
	profile_free(t->profile);
	buf_done(&t->text);
	buf_done(&t->json);
}

static bool says(const struct told *t, const char *words)
{
	return strstr(buf_text(&t->text), words);
}

static bool holds(const struct told *t, const char *words)
{
	return strstr(buf_text(&t->json), words);
}

/* 3,000,000,000 cycles of a program, 750 of the kernel and 250 of idle CPUs within one second. */
static void cycles_of_the_machine_are_no_time(void)
{
	struct made m = {.attrs = {machine_cycles()}, .attr_count = 1};
	const struct account_view *a;
	struct told t;

	put_sample(&m, (struct made_sample){0, 0, 100, false, START, 1000000000});
	put_sample(&m, (struct made_sample){0, 1, 0, true, START + 300 * MS, 250});
	put_sample(&m, (struct made_sample){0, 1, 100, true, START + 600 * MS, 750});
	put_sample(&m, (struct made_sample){0, 0, 100, false, START + 1000 * MS, 2000000000});
	m.cpus = 4;
	tell(&t, &m, NULL);
	CHECK(says(&t, "The whole machine, 1.000 s on 2 of 4 CPUs"));
	a = t.report->account;
	CHECK_EQ(a->machine_wide, true);
	CHECK_EQ(a->present, false);
	CHECK_EQ(a->counted, true);
	CHECK_EQ(a->wall_ns, 1000 * MS);
	CHECK_EQ(a->cpus, 2);
	CHECK_EQ(a->events.user, 3000000000);
	CHECK_EQ(a->events.kernel, 750);
	CHECK_EQ(a->events.idle, 250);
	CHECK_EQ(a->events.all, 3000001000);
	CHECK_EQ(a->lines.items[1].events.all, 1000);
	CHECK_EQ(t.profile->ledger.cpus.items[0].busy_ns, 0);
	CHECK_EQ(t.profile->ledger.cpus.items[0].weight_busy, 0);
	CHECK_EQ(t.profile->ledger.cpus.items[0].unknown_ns, 1000 * MS);
	CHECK(!says(&t, "Where the time went"));
	CHECK(says(&t, "Where the events went"));
	CHECK(says(&t, "3,000,000,000"));
	CHECK(holds(&t, "\"user_ns\":null"));
	CHECK(holds(&t, "\"idle_ns\":null"));
	CHECK(holds(&t, "\"residual_ns\":null"));
	CHECK(holds(&t, "\"events\":{\"user\":3000000000,\"kernel\":750,\"irq\":0,\"idle\":250,"
	                "\"all\":3000001000}"));
	told_done(&t);
	buf_done(&m.records);
}

/* Cycles of one command without switch records: their sum is not user_ns. */
static void cycles_of_a_command_are_no_time(void)
{
	struct made m = {.attrs = {machine_cycles()}, .attr_count = 1};
	struct told t;

	m.attrs[0].sample_type &= ~(uint64_t)PERF_SAMPLE_CPU;
	m.attrs[0].enable_on_exec = 1;
	put_sample(&m, (struct made_sample){0, 0, 100, false, START, 1000000});
	put_sample(&m, (struct made_sample){0, 0, 100, true, START + MS, 1000000});
	tell(&t, &m, NULL);
	CHECK_EQ(t.report->account->machine_wide, false);
	CHECK_EQ(t.report->account->counted, false);
	CHECK(holds(&t, "\"user_ns\":null"));
	CHECK(holds(&t, "\"kernel_ns\":null"));
	CHECK(!says(&t, "Where the"));
	told_done(&t);
	buf_done(&m.records);
}

/* Switch records have the busy time, and the samples' shares divide it. */
static void switch_records_give_cycles_a_time(void)
{
	struct made m = {.attrs = {machine_cycles()}, .attr_count = 1};
	const struct account_view *a;
	struct buf body = {0};
	struct told t;

	m.attrs[0].context_switch = 1;
	put_sample(&m, (struct made_sample){0, 0, 100, false, START, 3000000000});
	fixture_u32(&body, 0, 0); /* out, the idle task follows */
	fixture_u32(&body, 100, 100);
	fixture_u64(&body, START + 400 * MS);
	fixture_u32(&body, 0, 0);
	fixture_u64(&body, 1);
	fixture_record(&m.records, PERF_RECORD_SWITCH_CPU_WIDE, PERF_RECORD_MISC_SWITCH_OUT,
	               body.data, body.size);
	put_sample(&m, (struct made_sample){0, 0, 0, true, START + 1000 * MS, 1000});
	tell(&t, &m, NULL);
	a = t.report->account;
	CHECK_EQ(a->present, true);
	CHECK_EQ(a->counted, false);
	CHECK_EQ(a->total.user_ns, 400 * MS);
	CHECK_EQ(a->total.idle_ns, 600 * MS);
	CHECK_EQ(a->total.residual_ns, 0);
	CHECK(holds(&t, "\"events\":null"));
	told_done(&t);
	buf_done(&body);
	buf_done(&m.records);
}

/* A hybrid CPU has a clock for each kind of core; the command ran on one kind. */
static void an_event_without_samples_is_not_the_default(void)
{
	struct made m = {.attrs = {machine_cycles(), machine_cycles()}, .attr_count = 2};
	struct told t;

	m.attrs[0].type = m.attrs[1].type = PERF_TYPE_RAW;
	m.attrs[1].config = 0x1c4;
	put_sample(&m, (struct made_sample){1, 0, 100, false, START, 7});
	tell(&t, &m, NULL);
	CHECK_EQ(t.report->event, 1);
	CHECK_EQ(t.report->selection.samples, 1);
	told_done(&t);
	m.attrs[0].type = m.attrs[1].type = PERF_TYPE_HARDWARE;
	m.attrs[1].config = PERF_COUNT_HW_REF_CPU_CYCLES;
	tell(&t, &m, NULL);
	CHECK_EQ(t.report->event, 1);
	CHECK_EQ(t.report->selection.samples, 1);
	told_done(&t);
	buf_done(&m.records);
}

/* The event with samples need not be a clock; the tables of SQL use it too. */
static void a_clock_without_samples_is_not_the_default(void)
{
	struct made m = {.attrs = {machine_cycles(), machine_cycles()}, .attr_count = 2};
	struct sql *sql = NULL;
	struct told t;

	m.attrs[1].config = PERF_COUNT_HW_CACHE_MISSES;
	put_sample(&m, (struct made_sample){1, 0, 100, false, START, 7});
	tell(&t, &m, NULL);
	CHECK_EQ(t.report->event, 1);
	CHECK_EQ(sql_open(&sql, NULL), 0);
	CHECK_EQ(sql_add_profile(sql, t.profile, t.symbols, NULL), 0);
	CHECK_STR(ask(sql, "SELECT event FROM sessions; SELECT samples FROM by_mode"),
	          "cache-misses\n1\n");
	sql_close(sql);
	told_done(&t);
	buf_done(&m.records);
}

/* The order of events decides, not the order of samples. */
static void the_first_clock_with_samples_has_the_ledger(void)
{
	struct made m = {.attrs = {machine_cycles(), fixture_clock()}, .attr_count = 2};
	struct told t;

	m.attrs[1].sample_type = m.attrs[0].sample_type;
	put_sample(&m, (struct made_sample){1, 0, 0, true, START, MS});
	tell(&t, &m, NULL);
	CHECK_EQ(t.report->event, 1);
	CHECK_EQ(t.report->account->counted, false);
	CHECK_EQ(t.report->account->total.idle_ns, MS);
	told_done(&t);
	put_sample(&m, (struct made_sample){0, 0, 100, false, START + MS, 500});
	put_sample(&m, (struct made_sample){1, 0, 0, true, START + 2 * MS, MS});
	tell(&t, &m, NULL);
	CHECK_EQ(t.report->event, 0);
	CHECK_EQ(t.report->account->counted, true);
	CHECK_EQ(t.report->account->events.all, 500);
	CHECK_EQ(t.profile->ledger.cpus.items[0].weight_idle, 0);
	told_done(&t);
	buf_done(&m.records);
}

static void put_comm_at(struct made *m, int32_t pid, const char *name, uint64_t time_ns)
{
	struct buf body = {0};
	char padded[16] = {0};

	memcpy(padded, name, strlen(name));
	fixture_u32(&body, (uint32_t)pid, (uint32_t)pid);
	buf_add(&body, padded, sizeof(padded));
	fixture_u32(&body, (uint32_t)pid, (uint32_t)pid); /* TID, TIME, CPU, IDENTIFIER */
	fixture_u64(&body, time_ns);
	if (m->attrs[0].sample_type & PERF_SAMPLE_CPU)
		fixture_u32(&body, 0, 0);
	fixture_u64(&body, 1);
	fixture_record(&m->records, PERF_RECORD_COMM, 0, body.data, body.size);
	buf_done(&body);
}

static void put_comm(struct made *m, int32_t pid, const char *name)
{
	put_comm_at(m, pid, name, 0);
}

/* No CPU was idle at a sample: the COMM record of init shows that the recording is machine-wide. */
static void a_busy_machine_is_a_machine(void)
{
	struct made m = {.attrs = {machine_cycles()}, .attr_count = 1};
	struct told t;

	put_comm(&m, 1, "init");
	put_comm(&m, 100, "program");
	put_sample(&m, (struct made_sample){0, 0, 100, false, START, 1000});
	put_sample(&m, (struct made_sample){0, 1, 100, false, START + MS, 1000});
	tell(&t, &m, NULL);
	CHECK_EQ(t.report->account->machine_wide, true);
	CHECK(says(&t, "The whole machine, 1.00 ms on 2 CPUs"));
	told_done(&t);
	m.attrs[0].enable_on_exec = 1;
	tell(&t, &m, NULL);
	CHECK_EQ(t.report->account->machine_wide, false);
	told_done(&t);
	buf_done(&m.records);
}

/* Intel PT records the switches of the CPUs that one command runs on; its samples have no CPU. */
static void switches_of_cpus_do_not_make_a_command_the_machine(void)
{
	struct made m = {.attrs = {machine_cycles()}, .attr_count = 1};
	struct buf body = {0};
	struct told t;

	m.attrs[0].sample_type &= ~(uint64_t)PERF_SAMPLE_CPU;
	m.attrs[0].enable_on_exec = 1;
	put_sample(&m, (struct made_sample){0, 0, 100, false, START, 1000});
	fixture_u32(&body, 0, 0);
	fixture_u32(&body, 100, 100);
	fixture_u64(&body, START + MS);
	fixture_u64(&body, 1);
	fixture_record(&m.records, PERF_RECORD_SWITCH_CPU_WIDE, PERF_RECORD_MISC_SWITCH_OUT,
	               body.data, body.size);
	put_sample(&m, (struct made_sample){0, 0, 100, true, START + 2 * MS, 1000});
	tell(&t, &m, NULL);
	CHECK_EQ(t.report->account->machine_wide, false);
	CHECK_EQ(t.profile->ledger.cpus.count, 0);
	CHECK(!says(&t, "65535"));
	CHECK(says(&t, "Samples of 2.00 ms"));
	told_done(&t);
	buf_done(&body);
	buf_done(&m.records);
}

/* Without PERF_SAMPLE_TIME neither a length nor a moment is known. */
static void samples_without_time_have_none(void)
{
	struct made m = {.attrs = {machine_cycles()}, .attr_count = 1};
	struct sql *sql = NULL;
	struct told t;

	m.attrs[0].sample_type &= ~(uint64_t)(PERF_SAMPLE_TIME | PERF_SAMPLE_CPU);
	put_sample(&m, (struct made_sample){0, 0, 100, false, 0, 1000});
	tell(&t, &m, NULL);
	CHECK(says(&t, "Samples of an unknown time"));
	CHECK(!says(&t, "0 s"));
	CHECK(holds(&t, "\"first_sample_ns\":null"));
	CHECK(holds(&t, "\"elapsed_ns\":null"));
	CHECK_EQ(sql_open(&sql, NULL), 0);
	CHECK_EQ(sql_add_profile(sql, t.profile, t.symbols, NULL), 0);
	CHECK_STR(ask(sql,
	              "SELECT time_ns IS NULL FROM samples; SELECT start_ns IS NULL, end_ns IS "
	              "NULL FROM windows"),
	          "1\n1|1\n");
	sql_close(sql);
	told_done(&t);
	buf_done(&m.records);
}

/* A truncated file has the modification time of its copy. */
static void a_part_of_a_file_has_no_date(void)
{
	struct recording r;

	recording_init(&r);
	r.captured_at_s = 1700000000;
	CHECK_EQ(recording_time_s(&r), 1700000000);
	r.truncated = true;
	CHECK_EQ(recording_time_s(&r), 0);
	r.clock_wall_ns = UINT64_C(1600000000000000000);
	CHECK_EQ(recording_time_s(&r), 1600000000);
	recording_done(&r);
}

static uint64_t samples_of(const struct told *t, const char *process)
{
	const struct process_table *processes = t->profile->processes;

	vec_each (line, &t->report->processes->names)
		if (line->name != ID_NONE &&
		    !strcmp(process_table_name(processes, line->name), process))
			return line->user_samples + line->kernel_samples;
	return 0;
}

/* Kernels before 3.16 do not mark the COMM record of an exec. */
static void samples_before_an_unmarked_exec_stay(void)
{
	struct made m = {.attrs = {machine_cycles()}, .attr_count = 1};
	struct told t;

	put_comm(&m, 100, "shell");
	put_sample(&m, (struct made_sample){0, 0, 100, false, START, 1000});
	put_sample(&m, (struct made_sample){0, 0, 100, false, START + MS, 1000});
	put_comm_at(&m, 100, "program", START + 2 * MS);
	put_sample(&m, (struct made_sample){0, 0, 100, false, START + 3 * MS, 1000});
	tell(&t, &m, NULL);
	CHECK_EQ(samples_of(&t, "shell"), 2);
	CHECK_EQ(samples_of(&t, "program"), 1);
	told_done(&t);
	/* The kernel marks execs: this record is a new name of the same program. */
	m.attrs[0].comm_exec = 1;
	tell(&t, &m, NULL);
	CHECK_EQ(samples_of(&t, "shell"), 3);
	told_done(&t);
	buf_done(&m.records);
}

int main(void)
{
	RUN(samples_without_time_have_none);
	RUN(a_part_of_a_file_has_no_date);
	RUN(samples_before_an_unmarked_exec_stay);
	RUN(an_event_without_samples_is_not_the_default);
	RUN(a_clock_without_samples_is_not_the_default);
	RUN(the_first_clock_with_samples_has_the_ledger);
	RUN(a_busy_machine_is_a_machine);
	RUN(switches_of_cpus_do_not_make_a_command_the_machine);
	RUN(cycles_of_the_machine_are_no_time);
	RUN(cycles_of_a_command_are_no_time);
	RUN(switch_records_give_cycles_a_time);
	return check_end();
}
