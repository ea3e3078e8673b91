/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The roles of the tracepoints of switches and wake-ups, and their fields; contended locks. */
#include "base/memory/xalloc.h"
#include "check.h"
#include "format/perf/perf_data_attr.h"
#include "format/perf/perf_record.h"
#include "format/perf/tracepoint_format.h"

#include <string.h>

#define COMMON                                                                                     \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"                     \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

static const char switch_format[] = "name: sched_switch\nID: 7\nformat:\n" COMMON
                                    "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
                                    "\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
                                    "\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n"
                                    "\tfield:pid_t next_pid;\toffset:40;\tsize:4;\tsigned:1;\n";
static const char wake_format[] =
        COMMON "\tfield:pid_t pid;\toffset:8;\tsize:4;\tsigned:1;\n"
               "\tfield:int target_cpu;\toffset:12;\tsize:4;\tsigned:1;\n";

static const char begin_format[] =
        COMMON "\tfield:void * lock_addr;\toffset:8;\tsize:8;\tsigned:0;\n"
               "\tfield:unsigned int flags;\toffset:16;\tsize:4;\tsigned:0;\n";
static const char end_format[] = COMMON "\tfield:void * lock_addr;\toffset:8;\tsize:8;\tsigned:0;\n"
                                        "\tfield:int ret;\toffset:16;\tsize:4;\tsigned:1;\n";

static struct tracepoint made(const char *name, uint64_t id)
{
	bool is_lock = !strncmp(name, "contention_", 11);
	struct tracepoint t = {.system = xstrdup(is_lock ? "lock" : "sched")};
	const char *fields = !strcmp(name, "contention_begin") ? begin_format
	                     : is_lock                         ? end_format
	                                                       : wake_format;

	t.format = !strcmp(name, "sched_switch")
	                   ? xstrdup(switch_format)
	                   : xasprintf("name: %s\nID: %u\nformat:\n%s", name, (unsigned)id, fields);
	CHECK(tracepoint_format_parse(&t));
	t.id = id;
	return t;
}

static struct perf_event_attr attr_of(uint64_t id, uint64_t period)
{
	return (struct perf_event_attr){.size = sizeof(struct perf_event_attr),
	                                .type = PERF_TYPE_TRACEPOINT,
	                                .config = id,
	                                .sample_period = period,
	                                .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_RAW};
}

/* Decodes a sample of thread 5 with these raw fields. */
static struct event_sample sample_of(const char *name, const uint8_t *raw, uint32_t size)
{
	struct {
		struct perf_event_header header;
		uint32_t pid, tid, size;
		uint8_t raw[60];
	} record = {.header = {PERF_RECORD_SAMPLE, 0, (uint16_t)(8 + 12 + size)},
	            .pid = 5,
	            .tid = 5,
	            .size = size};
	struct perf_event_attr attr = attr_of(7, 1);
	struct tracepoint t = made(name, 7);
	struct perf_decoder d;
	struct event e;

	memcpy(record.raw, raw, size);
	perf_decoder_init(&d);
	perf_decoder_add_attr(&d, &attr, NULL, 0);
	perf_decoder_set_tracepoint(&d, 0, &t);
	perf_decoder_seal(&d);
	CHECK_EQ(perf_decoder_decode(&d, (const uint8_t *)&record, record.header.size, &e),
	         PERF_DECODED);
	perf_decoder_done(&d);
	tracepoint_done(&t);
	return e.sample;
}

static struct event_scheduling decoded(const char *name, const uint8_t *raw, uint32_t size)
{
	return sample_of(name, raw, size).scheduling;
}

static void put(uint8_t *at, int32_t value)
{
	memcpy(at, &value, sizeof(value));
}

static void switches_are_decoded(void)
{
	uint8_t raw[44] = {0};
	struct event_scheduling s;

	put(raw + 24, 105);
	put(raw + 32, 2);
	put(raw + 40, 77);
	s = decoded("sched_switch", raw, sizeof(raw));
	CHECK(s.known);
	CHECK_EQ(s.own_tid, 105);
	CHECK_EQ(s.tid, 77);
	CHECK_EQ(s.state, 2);
	CHECK_EQ(s.target_cpu, -1);
	put(raw + 32, 0x100); /* preempted */
	CHECK_EQ(decoded("sched_switch", raw, sizeof(raw)).state, 0);
	/* Fields that are cut short are not known. */
	CHECK(!decoded("sched_switch", raw, 40).known);
	CHECK(!decoded("sched_process_exec", raw, sizeof(raw)).known);
}

static void wakes_are_decoded(void)
{
	static const struct {
		uint8_t flags, context;
	} contexts[] = {{0x01, 0},
	                {0x08, EVENT_IN_INTERRUPT},
	                {0x40, EVENT_IN_INTERRUPT},
	                {0x11, EVENT_IN_SOFTIRQ},
	                {0x18, EVENT_IN_INTERRUPT | EVENT_IN_SOFTIRQ}};
	uint8_t raw[16] = {0};
	struct event_scheduling s;

	put(raw + 4, 105);
	put(raw + 8, 77);
	put(raw + 12, 3);
	for (size_t i = 0; i < sizeof(contexts) / sizeof(*contexts); i++) {
		raw[2] = contexts[i].flags;
		s = decoded("sched_waking", raw, sizeof(raw));
		CHECK(s.known && !s.is_new);
		CHECK_EQ(s.context, contexts[i].context);
		CHECK_EQ(s.own_tid, 105);
		CHECK_EQ(s.tid, 77);
		CHECK_EQ(s.target_cpu, 3);
	}
	CHECK(decoded("sched_wakeup_new", raw, sizeof(raw)).is_new);
	CHECK(decoded("sched_wakeup", raw, sizeof(raw)).known);
}

static void contended_locks_are_decoded(void)
{
	uint64_t address = 0xffff888627c2ba80;
	uint8_t raw[20] = {0};
	struct event_contention c;

	memcpy(raw + 8, &address, sizeof(address));
	put(raw + 16, 0x22);
	c = sample_of("contention_begin", raw, sizeof(raw)).contention;
	CHECK(c.known && !c.end);
	CHECK_EQ(c.address, address);
	CHECK_EQ(c.flags, 0x22);
	put(raw + 16, -4);
	c = sample_of("contention_end", raw, sizeof(raw)).contention;
	CHECK(c.known && c.end);
	CHECK_EQ(c.address, address);
	CHECK_EQ(c.result, -4);
	CHECK(!sample_of("contention_end", raw, 16).contention.known);
	CHECK(!sample_of("sched_waking", raw, sizeof(raw)).contention.known);
}

/* The roles of these events in a file with them; a name that begins with '!' has no role. */
static void check_roles(const char *const *names, uint64_t period, bool has_context_switches)
{
	struct perf_event_attr attrs[8];
	perf_data_event_descs none = {0};
	struct recording r;
	size_t count = 0;

	recording_init(&r);
	for (; names[count]; count++) {
		vec_push(&r.tracepoints, made(names[count] + (*names[count] == '!'), 10 + count));
		attrs[count] = attr_of(10 + count, period);
	}
	if (has_context_switches) {
		attrs[count] = attr_of(PERF_COUNT_SW_CPU_CLOCK, 1000000);
		attrs[count++].type = PERF_TYPE_SOFTWARE;
		attrs[count] = attr_of(PERF_COUNT_SW_CONTEXT_SWITCHES, 1);
		attrs[count].type = PERF_TYPE_SOFTWARE;
		attrs[count++].sample_type |= PERF_SAMPLE_CALLCHAIN;
	}
	perf_data_attrs_describe(&r, attrs, count, &none, EVENT_NO_ATTR);
	for (size_t i = 0; names[i]; i++) {
		const char *name = names[i] + (*names[i] == '!');
		enum attr_role want = *names[i] == '!'                ? ATTR_COUNT
		                      : !strcmp(name, "sched_switch") ? ATTR_SWITCH
		                                                      : ATTR_WAKE;

		CHECK_EQ(r.attrs.items[i].role, want);
		CHECK_EQ(strncmp(r.attrs.items[i].name, "sched:", 6), 0);
		CHECK_STR(r.attrs.items[i].name + 6, name);
	}
	recording_done(&r);
}

static void roles_follow_the_names(void)
{
	static const char *const all[] = {"sched_switch", "!sched_wakeup", "sched_waking",
	                                  "sched_wakeup_new", NULL};
	static const char *const older[] = {"sched_wakeup", "!sched_process_exec", "sched_switch",
	                                    NULL};
	static const char *const software[] = {"!sched_switch", "sched_waking", NULL};
	static const char *const sampled[] = {"!sched_switch", "!sched_waking", NULL};

	check_roles(all, 1, false);
	check_roles(older, 1, false);
	check_roles(software, 1, true);
	check_roles(sampled, 10, false);
}

int main(void)
{
	RUN(switches_are_decoded);
	RUN(wakes_are_decoded);
	RUN(contended_locks_are_decoded);
	RUN(roles_follow_the_names);
	return check_end();
}
