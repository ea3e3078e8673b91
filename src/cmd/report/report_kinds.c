/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/report/report_kinds.h"

#include "cmd/cli/medium.h"
#include "cmd/cli/option.h"
#include "cmd/report/report_fields.h"
#include "view/recording_facts.h"
#include "view/tags/tag_report.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *name;
	unsigned has;
	/* Columns of the tables. If there are default files of several kinds, --by selects a kind
	 * that has the column. */
	const char *columns;
} kinds[LOAD_KINDS] = {
        [LOAD_SAMPLES] = {"samples (perf.data)",
                          HAS_PROCESSES | HAS_THREADS | HAS_CPUS | HAS_CGROUPS | HAS_TIMES |
                                  HAS_IMAGES | HAS_ADDRESSES | HAS_LINES | HAS_MODES | HAS_REGIONS |
                                  HAS_EVENTS | HAS_INSTANCES | HAS_PARTS | HAS_IDLE | HAS_PATHS |
                                  HAS_CODE | HAS_RAW_NAMES | HAS_FIELDS | HAS_LABELS,
                          "share,samples,runnable,blocked"},
        [LOAD_CALLS] = {"call paths (assay.calls)",
                        HAS_PROCESSES | HAS_IMAGES | HAS_ADDRESSES | HAS_LINES | HAS_INSTANCES |
                                HAS_PATHS | HAS_PATH_ROWS | HAS_CODE | HAS_RAW_NAMES,
                        "net,calls,total,wall,blocked,preempted,min,avg,max,first,name"},
        [LOAD_TAGS] = {"event tags (assay.tags)",
                       HAS_PROCESSES | HAS_THREADS | HAS_PATHS | HAS_EACH_CALL | HAS_TAGS |
                               HAS_RAW_NAMES,
                       TAG_ORDERS},
        [LOAD_PPROF] = {"pprof profiles",
                        HAS_PROCESSES | HAS_THREADS | HAS_IMAGES | HAS_ADDRESSES | HAS_LINES |
                                HAS_EVENTS | HAS_PATHS,
                        "self,total,share"},
};

/* The alternative that the message names if a kind refuses an option. */
static const struct {
	const char *option;
	enum load_kind kind;
	const char *text;
} instead[] = {
        {"--time", LOAD_TAGS, "'assay tags trace' has it"},
        {"--no-idle", LOAD_TAGS, "the column % net leaves idle time out"},
        {"--full-paths", LOAD_SAMPLES, "-i without a FILE means --full-paths"},
        {"--instances", LOAD_PPROF, "use --sort instance"},
};

/* The facts that the keys among the words of --sort need. */
static unsigned sort_needs(const struct report_options *o, size_t i)
{
	enum flat_key key;

	if (request_label_of(o->sort.items[i]))
		return HAS_LABELS;
	if (report_field_of(o->sort.items[i]))
		return HAS_FIELDS;
	return flat_key_parse(o->sort.items[i], &key) ? flat_key_needs(key) : 0;
}

static unsigned needs(const struct option *options, const void *values,
                      const struct report_options *report)
{
	struct option_table table;
	unsigned all = 0;

	option_table_init(&table, options);
	vec_each (o, &table.rows)
		if (o->needs && option_is_given(o, values, NULL))
			all |= o->needs;
	option_table_done(&table);
	for (size_t i = 0; i < report->sort.count; i++)
		all |= sort_needs(report, i);
	return all;
}

static bool has_word(const char *list, const char *word)
{
	size_t length = strlen(word);

	for (; *list; list += strcspn(list, ","), list += *list == ',')
		if (strcspn(list, ",") == length && !strncmp(list, word, length))
			return true;
	return false;
}

unsigned report_kinds(const struct option *options, const void *values,
                      const struct report_options *report)
{
	unsigned all = needs(options, values, report), found = 0;
	struct report_request q = {0};
	struct error err = {0};

	if (report_options_request(report, &q, &err))
		return 0;
	for (enum load_kind kind = 0; kind < LOAD_KINDS; kind++) {
		bool fits = !(all & ~kinds[kind].has);

		for (size_t i = 0; i < q.by_count; i++)
			fits &= has_word(kinds[kind].columns, q.by[i]);
		found |= fits ? LOAD_BIT(kind) : 0;
	}
	return found;
}

static int refuse(const char *option, unsigned missing, enum load_kind kind, struct error *err)
{
	const char *hint = NULL;

	for (size_t i = 0; i < sizeof(instead) / sizeof(*instead); i++)
		if (instead[i].kind == kind && !strcmp(instead[i].option, option))
			hint = instead[i].text;
	return error_set(err, EINVAL, "%s needs %s, which %s do not have%s%s", option,
	                 recording_fact_text(missing), kinds[kind].name, hint ? "; " : "",
	                 hint ? hint : "");
}

int report_kinds_check(enum load_kind kind, const struct option *options, const void *values,
                       const struct report_options *report, struct error *err)
{
	unsigned missing = needs(options, values, report) & ~kinds[kind].has;
	struct option_table table;
	char name[64];
	int ret = 0;

	if (!missing)
		return 0;
	option_table_init(&table, options);
	vec_each (o, &table.rows) {
		if (ret || !(o->needs & missing) || !option_is_given(o, values, NULL))
			continue;
		snprintf(name, sizeof(name), "--%s", o->name);
		ret = refuse(name, o->needs & missing, kind, err);
	}
	option_table_done(&table);
	for (size_t i = 0; i < report->sort.count && !ret; i++) {
		snprintf(name, sizeof(name), "--sort %s", report->sort.items[i]);
		if (sort_needs(report, i) & missing)
			ret = refuse(name, sort_needs(report, i), kind, err);
	}
	return ret;
}

static bool has_option(const struct option_table *t, const char *name)
{
	vec_each (o, &t->rows)
		if (!strcmp(o->name, name))
			return true;
	return false;
}

bool report_asks_for_tables(const struct option *options, const void *values)
{
	static const char others[] =
	        "input,time,store,from,until,to,host,event," /* what is read */
	        "kallsyms,vmlinux,symfs,debuginfod,no-demangle,inline,no-inline,names," /* names */
	        "json,nested,full,brief,no-pager,no-source"; /* the form */
	struct option_table table, media;
	bool asks = false;

	option_table_init(&table, options);
	option_table_init(&media, medium_option_table);
	vec_each (o, &table.rows)
		asks |= option_is_given(o, values, NULL) && !has_word(others, o->name) &&
		        !has_option(&media, o->name);
	option_table_done(&media);
	option_table_done(&table);
	return asks;
}
