/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The account section: one "key value" on each line, so that later versions can add keys and
 * earlier ones skip them. A CPU is one line of key=value.
 */
#include "format/perf/perf_data_feature.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum field_type { FIELD_U64, FIELD_I64, FIELD_I32, FIELD_BOOL };

struct account_field {
	const char *key;
	size_t offset;
	enum field_type type;
};

#define ACCOUNT_FIELD(name, type)                                                                  \
	{                                                                                          \
#name, offsetof(struct account, name), type                                        \
	}

static const struct account_field account_fields[] = {
        ACCOUNT_FIELD(machine_wide, FIELD_BOOL),
        ACCOUNT_FIELD(start_ns, FIELD_U64),
        ACCOUNT_FIELD(end_ns, FIELD_U64),
        ACCOUNT_FIELD(observer_cpu_ns, FIELD_U64),
        ACCOUNT_FIELD(observer_start_cpu_ns, FIELD_U64),
        ACCOUNT_FIELD(observer_bytes, FIELD_U64),
        ACCOUNT_FIELD(observer_wakeups, FIELD_U64),
        ACCOUNT_FIELD(flush_asked_ns, FIELD_U64),
        ACCOUNT_FIELD(flushes, FIELD_U64),
        ACCOUNT_FIELD(flush_cpu_ns, FIELD_U64),
        ACCOUNT_FIELD(observer_pid, FIELD_I32),
        ACCOUNT_FIELD(reader_pid, FIELD_I32),
        ACCOUNT_FIELD(reads_unanswered, FIELD_U64),
        ACCOUNT_FIELD(reads_not_made, FIELD_U64),
        ACCOUNT_FIELD(counted_oncpu_ns, FIELD_U64),
        ACCOUNT_FIELD(exit_status, FIELD_I32),
};

#define CPU_FIELD(name)                                                                            \
	{                                                                                          \
#name, offsetof(struct account_cpu, name), FIELD_U64                               \
	}

static const struct account_field cpu_fields[] = {
        CPU_FIELD(start_ns),       CPU_FIELD(end_ns),         CPU_FIELD(stat_user_ns),
        CPU_FIELD(stat_system_ns), CPU_FIELD(stat_irq_ns),    CPU_FIELD(stat_softirq_ns),
        CPU_FIELD(stat_idle_ns),   CPU_FIELD(stat_iowait_ns), CPU_FIELD(stat_steal_ns),
        CPU_FIELD(lost_records),   CPU_FIELD(ring_bytes),     CPU_FIELD(ring_used_max),
        CPU_FIELD(ring_used_sum),  CPU_FIELD(ring_reads),
};

#define UNWIND_FIELD(name)                                                                         \
	{                                                                                          \
#name, offsetof(struct account_unwind, name), FIELD_U64                            \
	}

static const struct account_field unwind_fields[] = {
        UNWIND_FIELD(samples),         UNWIND_FIELD(frames),       UNWIND_FIELD(by_frame_pointer),
        UNWIND_FIELD(stitched_frames), UNWIND_FIELD(memory_reads), UNWIND_FIELD(tables),
        UNWIND_FIELD(table_rows),      UNWIND_FIELD(table_ns),     UNWIND_FIELD(cpu_ns),
};

#define RATE_FIELD(name)                                                                           \
	{                                                                                          \
#name, offsetof(struct account_rate, name), FIELD_U64                              \
	}

static const struct account_field rate_fields[] = {RATE_FIELD(time_ns), RATE_FIELD(period_ns),
                                                   RATE_FIELD(budget),  RATE_FIELD(changes),
                                                   RATE_FIELD(slowed),  RATE_FIELD(slowest_ns)};

#define BUDGET_FIELD(name)                                                                         \
	{                                                                                          \
#name, offsetof(struct account_budget, name), FIELD_U64                            \
	}

static const struct account_field budget_fields[] = {
        BUDGET_FIELD(share_ppm),    BUDGET_FIELD(cost_ns),      BUDGET_FIELD(cost_low_ns),
        BUDGET_FIELD(cost_high_ns), BUDGET_FIELD(cost_samples), BUDGET_FIELD(spent_ppm),
        BUDGET_FIELD(most_ppm),     BUDGET_FIELD(looked_ns),    BUDGET_FIELD(over_ns),
        BUDGET_FIELD(record_ns),
};

#define CALIBRATION_FIELD(name, type)                                                              \
	{                                                                                          \
#name, offsetof(struct account_calibration, name), type                            \
	}

static const struct account_field calibration_fields[] = {
        CALIBRATION_FIELD(state, FIELD_U64),        CALIBRATION_FIELD(pairs, FIELD_U64),
        CALIBRATION_FIELD(slowdown_ppm, FIELD_I64), CALIBRATION_FIELD(low_ppm, FIELD_I64),
        CALIBRATION_FIELD(high_ppm, FIELD_I64),
};

#define COMMAND_FIELD(name)                                                                        \
	{                                                                                          \
#name, offsetof(struct account_command, name), FIELD_U64                           \
	}

static const struct account_field command_fields[] = {
        COMMAND_FIELD(wall_ns),
        COMMAND_FIELD(user_ns),
        COMMAND_FIELD(system_ns),
        COMMAND_FIELD(rss_bytes),
        COMMAND_FIELD(minor_faults),
        COMMAND_FIELD(major_faults),
        COMMAND_FIELD(voluntary_switches),
        COMMAND_FIELD(involuntary_switches),
};

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/* The last fields are left out if they are 0. */
static size_t rate_field_count(const struct account_rate *rate)
{
	return rate->changes ? COUNT(rate_fields) : rate->budget ? 3 : 2;
}

static void put_value(struct buf *out, const struct account_field *f, const void *object)
{
	const char *p = (const char *)object + f->offset;

	switch (f->type) {
	case FIELD_BOOL:
		buf_putc(out, *(const bool *)p ? '1' : '0');
		break;
	case FIELD_I32:
		buf_addf(out, "%" PRId32, *(const int32_t *)(const void *)p);
		break;
	case FIELD_I64:
		buf_addf(out, "%" PRId64, *(const int64_t *)(const void *)p);
		break;
	case FIELD_U64:
		buf_addf(out, "%" PRIu64, *(const uint64_t *)(const void *)p);
		break;
	}
}

static bool field_set(const struct account_field *f, void *object, const char *text)
{
	char *p = (char *)object + f->offset;
	bool negative = *text == '-';
	unsigned long long value;
	char *end;

	errno = 0;
	value = strtoull(text + negative, &end, 10);
	if (errno || end == text + negative || *end || text[negative] < '0' || text[negative] > '9')
		return false;
	switch (f->type) {
	case FIELD_BOOL:
		*(bool *)p = value != 0;
		return !negative;
	case FIELD_I32:
		if (value > INT32_MAX)
			return false;
		*(int32_t *)(void *)p = negative ? -(int32_t)value : (int32_t)value;
		return true;
	case FIELD_I64:
		if (value > INT64_MAX)
			return false;
		*(int64_t *)(void *)p = negative ? -(int64_t)value : (int64_t)value;
		return true;
	case FIELD_U64:
		*(uint64_t *)p = value;
		return !negative;
	}
	return false;
}

static const struct account_field *field_find(const struct account_field *fields, size_t count,
                                              const char *key)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(fields[i].key, key))
			return &fields[i];
	return NULL;
}

static void put_note(struct buf *out, const char *note)
{
	buf_puts(out, "note ");
	for (; *note; note++)
		buf_putc(out, *note == '\n' ? ' ' : *note);
	buf_putc(out, '\n');
}

/* " key=value" for each field, and the end of the line. */
static void put_pairs(struct buf *out, const struct account_field *fields, size_t count,
                      const void *object)
{
	for (size_t k = 0; k < count; k++) {
		buf_addf(out, " %s=", fields[k].key);
		put_value(out, &fields[k], object);
	}
	buf_putc(out, '\n');
}

void perf_data_account_encode(struct buf *out, const struct recording *r)
{
	const struct account *a = &r->account;

	for (size_t i = 0; i < COUNT(account_fields); i++) {
		buf_addf(out, "%s ", account_fields[i].key);
		put_value(out, &account_fields[i], a);
		buf_putc(out, '\n');
	}
	if (a->boot_id)
		buf_addf(out, "boot_id %s\n", a->boot_id);
	for (size_t i = 0; i < a->targets.count; i++)
		buf_addf(out, "target %" PRId32 "\n", a->targets.items[i]);
	for (size_t i = 0; i < a->devices.count; i++)
		buf_addf(out, "device %" PRIu32 " %" PRIu32 " %s %s\n", a->devices.items[i].major,
		         a->devices.items[i].minor, a->devices.items[i].name,
		         a->devices.items[i].mount ? a->devices.items[i].mount : "");
	for (size_t i = 0; i < a->symbols.count; i++)
		buf_addf(out, "symbol %" PRIx64 " %s %s\n", a->symbols.items[i].address,
		         a->symbols.items[i].name,
		         a->symbols.items[i].module ? a->symbols.items[i].module : "");
	for (size_t i = 0; i < r->attrs.count; i++)
		if (r->attrs.items[i].role == ATTR_WITNESS)
			buf_addf(out, "witness_attr %zu\n", i);
	for (size_t i = 0; i < a->cpus.count; i++) {
		buf_addf(out, "cpu %" PRIu32, a->cpus.items[i].cpu);
		put_pairs(out, cpu_fields, COUNT(cpu_fields), &a->cpus.items[i]);
	}
	if (a->unwind.samples) {
		buf_puts(out, "unwind");
		put_pairs(out, unwind_fields, COUNT(unwind_fields), &a->unwind);
	}
	for (size_t i = 0; i < a->rates.count; i++) {
		buf_puts(out, "rate");
		put_pairs(out, rate_fields, rate_field_count(&a->rates.items[i]),
		          &a->rates.items[i]);
	}
	if (a->budget.share_ppm) {
		buf_puts(out, "budget");
		put_pairs(out, budget_fields, COUNT(budget_fields), &a->budget);
	}
	if (a->calibration.state) {
		buf_puts(out, "calibration");
		put_pairs(out, calibration_fields, COUNT(calibration_fields), &a->calibration);
	}
	if (a->command.wall_ns) {
		buf_puts(out, "command");
		put_pairs(out, command_fields, COUNT(command_fields), &a->command);
	}
	for (size_t i = 0; i < a->notes.count; i++)
		put_note(out, a->notes.items[i]);
}

/* Parses the words that strtok_r() has left, each key=value; unknown keys are skipped. */
static bool decode_pairs(char *word, char **rest, const struct account_field *fields, size_t count,
                         void *object)
{
	for (; word; word = strtok_r(NULL, " ", rest)) {
		char *value = strchr(word, '=');
		const struct account_field *f;

		if (!value)
			return false;
		*value++ = '\0';
		f = field_find(fields, count, word);
		if (f && !field_set(f, object, value))
			return false;
	}
	return true;
}

/* Sections that occur once in a recording. */
static const struct account_section {
	const char *key;
	const struct account_field *fields;
	size_t count, offset;
} sections[] = {
        {"unwind", unwind_fields, COUNT(unwind_fields), offsetof(struct account, unwind)},
        {"budget", budget_fields, COUNT(budget_fields), offsetof(struct account, budget)},
        {"calibration", calibration_fields, COUNT(calibration_fields),
         offsetof(struct account, calibration)},
        {"command", command_fields, COUNT(command_fields), offsetof(struct account, command)},
};

static const struct account_section *section_find(const char *key)
{
	for (size_t i = 0; i < COUNT(sections); i++)
		if (!strcmp(sections[i].key, key))
			return &sections[i];
	return NULL;
}

static bool decode_section(const struct account_section *section, char *text, struct account *a)
{
	char *rest, *word = strtok_r(text, " ", &rest);

	return decode_pairs(word, &rest, section->fields, section->count,
	                    (char *)a + section->offset);
}

static bool decode_rate(char *text, struct account *a)
{
	char *rest, *word = strtok_r(text, " ", &rest);
	struct account_rate rate = {0};

	if (!decode_pairs(word, &rest, rate_fields, COUNT(rate_fields), &rate))
		return false;
	vec_push(&a->rates, rate);
	return true;
}

static bool decode_cpu(char *text, struct account *a)
{
	static const struct account_field number = {"cpu", 0, FIELD_U64};
	struct account_cpu cpu = {0};
	uint64_t n;
	char *rest, *word = strtok_r(text, " ", &rest);

	if (!word || !field_set(&number, &n, word) || n > UINT32_MAX)
		return false;
	cpu.cpu = (uint32_t)n;
	word = strtok_r(NULL, " ", &rest);
	if (!decode_pairs(word, &rest, cpu_fields, COUNT(cpu_fields), &cpu))
		return false;
	vec_push(&a->cpus, cpu);
	return true;
}

static bool decode_target(char *text, struct account *a)
{
	static const struct account_field target = {"target", 0, FIELD_I32};
	int32_t pid;

	if (!field_set(&target, &pid, text) || pid <= 0)
		return false;
	vec_push(&a->targets, pid);
	return true;
}

/* The last word, the place of the mount, may be missing. */
static bool decode_device(const char *text, struct account *a)
{
	struct account_device d = {0};
	int words = sscanf(text, "%" SCNu32 " %" SCNu32 " %ms %ms", &d.major, &d.minor, &d.name,
	                   &d.mount);

	if (words >= 3) {
		vec_push(&a->devices, d);
		return true;
	}
	free(d.name);
	return false;
}

/* The last word, the module, may be missing. */
static bool decode_symbol(const char *text, struct account *a)
{
	struct account_symbol s = {0};
	int words = sscanf(text, "%" SCNx64 " %ms %ms", &s.address, &s.name, &s.module);

	if (words >= 2) {
		vec_push(&a->symbols, s);
		return true;
	}
	free(s.name);
	return false;
}

static bool decode_line(char *line, struct account *a, uint16_t *witness)
{
	static const struct account_field number = {"witness_attr", 0, FIELD_U64};
	char *value = strchr(line, ' ');
	const struct account_section *section;
	const struct account_field *f;
	uint64_t n;

	if (!value)
		return false;
	*value++ = '\0';
	section = section_find(line);
	if (section)
		return decode_section(section, value, a);
	if (!strcmp(line, "cpu"))
		return decode_cpu(value, a);
	if (!strcmp(line, "rate"))
		return decode_rate(value, a);
	if (!strcmp(line, "target"))
		return decode_target(value, a);
	if (!strcmp(line, "device"))
		return decode_device(value, a);
	if (!strcmp(line, "symbol"))
		return decode_symbol(value, a);
	if (!strcmp(line, "note")) {
		vec_push(&a->notes, xstrdup(value));
		return true;
	}
	if (!strcmp(line, "boot_id")) {
		free(a->boot_id);
		a->boot_id = xstrdup(value);
		return true;
	}
	if (!strcmp(line, number.key)) {
		if (!field_set(&number, &n, value) || n >= EVENT_NO_ATTR)
			return false;
		*witness = (uint16_t)n;
		return true;
	}
	f = field_find(account_fields, COUNT(account_fields), line);
	return !f || field_set(f, a, value);
}

bool perf_data_account_decode(const char *text, size_t size, struct account *a, uint16_t *witness)
{
	const char *end = text + size;
	bool good = true;

	*witness = EVENT_NO_ATTR;
	while (text < end && good) {
		const char *newline = memchr(text, '\n', end - text);
		char *line;

		if (!newline)
			return false; /* truncated within a line */
		line = xstrndup(text, newline - text);
		good = decode_line(line, a, witness);
		free(line);
		text = newline + 1;
	}
	a->present = good;
	return good;
}
