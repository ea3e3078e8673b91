/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * session_figures json|text|metrics [FIELD=NUMBER...]: prints the status of a
 * session with these figures, as `assay status` and the metrics of the agent have it. A field is
 * one of struct session_account; cpu=NUMBER,... has those of struct session_account_cpu in their
 * order, and rule=NUMBER,... the value in thousandths, how often it was fulfilled, how often held
 * back, and the last time.
 */
#include "event/session_account.h"
#include "output/document_output.h"
#include "view/status/status_document.h"
#include "view/status/status_metrics.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CPU_FIELDS (sizeof(struct session_account_cpu) / sizeof(uint64_t))

#define FIELD(name)                                                                                \
	{                                                                                          \
#name, offsetof(struct session_account, name)                                      \
	}

static const struct field {
	const char *name;
	size_t offset;
} fields[] = {
        FIELD(state),
        FIELD(kind),
        FIELD(end),
        FIELD(pid),
        FIELD(started_wall_ns),
        FIELD(now_wall_ns),
        FIELD(elapsed_ns),
        FIELD(ticks_known),
        FIELD(machine_wide),
        FIELD(ticks_user),
        FIELD(ticks_system),
        FIELD(ticks_idle),
        FIELD(ticks_unobserved),
        FIELD(samples),
        FIELD(records),
        FIELD(lost_records),
        FIELD(bytes),
        FIELD(held_ns),
        FIELD(held_most),
        FIELD(left_samples),
        FIELD(snapshots),
        FIELD(observer_cpu_ns),
        FIELD(observer_wakeups),
        FIELD(read_gap_max_ns),
        FIELD(period_ns),
        FIELD(period_asked_ns),
        FIELD(sample_cost_ns),
        FIELD(batches_due),
        FIELD(batches_sent),
        FIELD(batches_waiting),
        FIELD(batches_dropped),
        FIELD(samples_due),
        FIELD(samples_sent),
        FIELD(samples_waiting),
        FIELD(samples_dropped),
        FIELD(send_failures),
        FIELD(sender_cpu_ns),
};

static uint64_t number(char **text)
{
	return strtoull(*text, text, 10);
}

static void add_cpu(struct session_account *a, char *text)
{
	uint64_t values[CPU_FIELDS] = {0};
	struct session_account_cpu *cpu = vec_add(&a->cpus);

	for (size_t i = 0; i < CPU_FIELDS && *text; i++) {
		values[i] = number(&text);
		text += *text == ',';
	}
	memcpy(cpu, values, sizeof(values));
}

static void add_rule(struct session_account *a, char *text)
{
	struct session_account_rule *rule = vec_add(&a->rules);

	rule->text = xstrdup("load>4");
	rule->known = 1;
	rule->value_milli = number(&text);
	text++;
	rule->fired = number(&text);
	text++;
	rule->held_back = number(&text);
	text++;
	rule->fired_wall_ns = number(&text);
}

static bool set_field(struct session_account *a, char *word)
{
	char *value = strchr(word, '=');
	size_t size = value ? (size_t)(value++ - word) : 0;

	for (size_t i = 0; value && i < sizeof(fields) / sizeof(*fields); i++)
		if (strlen(fields[i].name) == size && !strncmp(fields[i].name, word, size)) {
			*(uint64_t *)(void *)((char *)a + fields[i].offset) = number(&value);
			return true;
		}
	if (size == 3 && !strncmp(word, "cpu", size))
		add_cpu(a, value);
	else if (size == 4 && !strncmp(word, "rule", size))
		add_rule(a, value);
	else
		return false;
	return true;
}

static void print_status(const struct session_account *a, const char *medium, struct buf *out)
{
	const struct document_text_options plain = {0};
	const struct document_reader reader = {.program = !strcmp(medium, "json")};
	struct document d;

	if (!strcmp(medium, "metrics")) {
		status_metrics(out, &a, 1);
		return;
	}
	document_init(&d);
	status_document_fill(&d, a, &reader);
	if (reader.program)
		document_json_print(&d, false, NULL, out);
	else
		document_text_print(&d, &plain, NULL, out);
	document_done(&d);
}

int main(int argc, char **argv)
{
	struct session_account a = {.name = xstrdup("day"),
	                            .what = xstrdup("the whole machine"),
	                            .output = xstrdup("/x/perf.data"),
	                            .spool = xstrdup("/x/spool")};
	struct buf out = {0};

	for (int i = 2; i < argc; i++)
		if (!set_field(&a, argv[i])) {
			fprintf(stderr, "no field: %s\n", argv[i]);
			return 2;
		}
	if (argc > 1)
		print_status(&a, argv[1], &out);
	fputs(buf_text(&out), stdout);
	buf_done(&out);
	session_account_done(&a);
	return argc < 2 ? 2 : 0;
}
