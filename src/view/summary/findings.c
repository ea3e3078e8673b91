/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/summary/findings.h"

#include "base/memory/xalloc.h"
#include "base/text/figure.h"
#include "base/text/shell_word.h"
#include "base/text/utf8.h"
#include "view/summary/summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LIMITS_MAX 6
#define LIMIT_BYTES 200
#define PARTS_MAX 8
#define END_BYTES 40 /* bytes of a truncated name that its query contains */
#define PART_SHOWN 0.0005

/* Cuts a text after whole characters; *characters is their number. */
static char *cut(const char *text, size_t bytes, size_t *characters)
{
	size_t size = 0;

	*characters = 0;
	while (text[size]) {
		int length = utf8_length((const unsigned char *)text + size);

		length = length ? length : 1;
		if (size + (size_t)length > bytes)
			break;
		size += (size_t)length;
		++*characters;
	}
	return xstrndup(text, size);
}

/* The characters as SQL counts them. */
static size_t characters_of(const char *text)
{
	size_t count;

	free(cut(text, SIZE_MAX, &count));
	return count;
}

/* A literal: control characters are written as char(N), so that the line can be copied. */
static void add_literal(struct buf *sql, const char *text)
{
	buf_putc(sql, '\'');
	for (; *text; text++) {
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			buf_addf(sql, "'||char(%d)||'", *text);
		else
			buf_puts(sql, *text == '\'' ? "''" : (char[]){*text, '\0'});
	}
	buf_putc(sql, '\'');
}

/* The last characters, since names of templates often differ only at their ends. */
static const char *end_of(const char *text)
{
	size_t size = strlen(text);
	const char *end = text + (size > END_BYTES ? size - END_BYTES : 0);

	while ((*end & 0xc0) == 0x80)
		end++;
	return end;
}

static void add_condition(struct buf *sql, const char *word, const char *column, const char *text)
{
	size_t count;
	char *name = cut(text, FINDING_NAME_BYTES, &count);
	const char *end;

	if (!strcmp(name, text)) {
		buf_addf(sql, " %s %s = ", word, column);
		add_literal(sql, text);
	} else {
		buf_addf(sql, " %s length(%s) = %zu AND substr(%s, 1, %zu) = ", word, column,
		         characters_of(text), column, count);
		add_literal(sql, name);
		end = end_of(text);
		buf_addf(sql, " AND substr(%s, -%zu) = ", column, characters_of(end));
		add_literal(sql, end);
	}
	free(name);
}

/* The same views exist for all kinds of recordings. A path ends with the name of its image. */
static char *function_query(const struct summary_reason *r)
{
	bool image = r->image && strcmp(r->image, "[none]") != 0;
	struct buf sql = {0};
	char *query;

	if (r->process) {
		buf_puts(&sql, "SELECT sum(samples) AS samples, sum(share) AS share FROM "
		               "by_application_address");
		add_condition(&sql, "WHERE", "name", r->process);
		add_condition(&sql, "AND", "function", r->function);
		if (image) {
			char *end = xasprintf("/%s", r->image);

			buf_addf(&sql, " AND substr('/'||image, -%zu) = ", characters_of(end));
			add_literal(&sql, end);
			free(end);
		}
	} else {
		buf_puts(&sql, "SELECT sum(samples) AS samples, sum(weight_ns) AS weight_ns, "
		               "sum(share) AS share FROM by_function");
		add_condition(&sql, "WHERE", "function", r->function);
		if (image)
			add_condition(&sql, "AND", "image", r->image);
	}
	query = xstrdup(buf_text(&sql));
	buf_done(&sql);
	return query;
}

static char *process_query(const char *name)
{
	struct buf sql = {0};
	char *query;

	buf_puts(&sql, "SELECT samples, weight_ns, share FROM by_application");
	add_condition(&sql, "WHERE", "name", name);
	query = xstrdup(buf_text(&sql));
	buf_done(&sql);
	return query;
}

static char *short_name(const char *name)
{
	size_t count;

	return name ? cut(name, FINDING_NAME_BYTES, &count) : NULL;
}

void findings_take(struct summary_findings *f, const struct summary *s)
{
	size_t count;

	f->text_unit = s->unit;
	f->unit = xstrdup(s->unit_name ? s->unit_name : "");
	f->recorded = cut(buf_text(&s->recorded), 2 * LIMIT_BYTES, &count);
	vec_each (r, &s->reasons)
		if (r->function)
			vec_push(&f->items,
			         (struct summary_finding){.process = short_name(r->process),
			                                  .image = short_name(r->image),
			                                  .function = short_name(r->function),
			                                  .share = r->share,
			                                  .low = r->low,
			                                  .high = r->high,
			                                  .value = r->value,
			                                  .sql = function_query(r)});
	vec_each (p, &s->processes)
		vec_push(&f->items, (struct summary_finding){.process = short_name(p->name),
		                                             .share = p->share,
		                                             .low = NAN,
		                                             .high = NAN,
		                                             .sql = process_query(p->name)});
	vec_each (limit, &s->limits)
		if (f->limits.count < LIMITS_MAX)
			vec_push(&f->limits, cut(limit->text, LIMIT_BYTES, &count));
	vec_each (part, &s->parts)
		if (fabs(part->share) >= PART_SHOWN && f->parts.count < PARTS_MAX)
			vec_push(&f->parts, (struct finding_part){part->key, part->share});
}

void findings_done(struct summary_findings *f)
{
	vec_each (item, &f->items) {
		free(item->process);
		free(item->image);
		free(item->function);
		free(item->sql);
	}
	vec_each (limit, &f->limits)
		free(*limit);
	vec_done(&f->items);
	vec_done(&f->limits);
	vec_done(&f->parts);
	free(f->recorded);
	free(f->unit);
}

size_t findings_count(const struct summary_findings *f)
{
	return f->items.count + f->limits.count + f->parts.count;
}

static void program_item(const struct summary_finding *item, struct document *d)
{
	document_object(d, NULL);
	document_string(d, "what", item->function ? "function" : "process");
	document_string(d, "function", item->function);
	document_string(d, "image", item->image);
	document_string(d, "process", item->process);
	document_real(d, "share", item->share);
	document_real(d, "low", item->low);
	document_real(d, "high", item->high);
	if (item->value.kind == CELL_NONE)
		document_null(d, "value");
	else
		document_real(d, "value", cell_number(item->value));
	document_string(d, "sql", item->sql);
	document_end(d);
}

static void reader_item(const struct summary_findings *f, const struct summary_finding *item,
                        struct document *d)
{
	struct buf text = {0};

	text_share(&text, item->share);
	if (!isnan(item->low))
		buf_addf(&text, " (%.1f to %.1f %%)", 100 * item->low, 100 * item->high);
	if (item->value.kind != CELL_NONE) {
		buf_puts(&text, ", ");
		unit_text_add(f->text_unit, item->value, &text);
	}
	if (item->function)
		buf_addf(&text, "  %s", item->function);
	if (item->function && item->image && strcmp(item->image, "[none]") != 0)
		buf_addf(&text, " in %s", item->image);
	if (item->process)
		buf_addf(&text, "%s process %s", item->function ? "," : " ", item->process);
	document_line(d, item->function ? "function" : "process", buf_text(&text));
	buf_clear(&text);
	buf_puts(&text, "assay sql ");
	shell_word_add(&text, f->file);
	buf_putc(&text, ' ');
	shell_word_add(&text, item->sql);
	document_verbatim(d, "", buf_text(&text));
	buf_done(&text);
}

static void programs(const struct summary_findings *f, size_t items, size_t limits, size_t parts,
                     struct document *d)
{
	document_string(d, "schema", FINDINGS_SCHEMA);
	document_string(d, "recorded", f->recorded);
	document_string(d, "unit", f->unit);
	document_array(d, "findings");
	for (size_t i = 0; i < items; i++)
		program_item(&f->items.items[i], d);
	document_end(d);
	document_array(d, "limits");
	for (size_t i = 0; i < limits; i++)
		document_string(d, NULL, f->limits.items[i]);
	document_end(d);
	document_object(d, "parts");
	for (size_t i = 0; i < parts; i++)
		document_real(d, f->parts.items[i].name, f->parts.items[i].share);
	document_end(d);
	document_int(d, "omitted", (int64_t)(findings_count(f) - items - limits - parts));
}

static void readers(const struct summary_findings *f, size_t items, size_t limits, size_t parts,
                    struct document *d)
{
	struct buf text = {0};

	document_line(d, "recorded", f->recorded);
	for (size_t i = 0; i < items; i++)
		reader_item(f, &f->items.items[i], d);
	for (size_t i = 0; i < limits; i++)
		document_line(d, "limit", f->limits.items[i]);
	for (size_t i = 0; i < parts; i++) {
		buf_addf(&text, "%s%s ", i ? ", " : "", f->parts.items[i].name);
		text_share(&text, f->parts.items[i].share);
	}
	document_line(d, "time", buf_text(&text));
	buf_clear(&text);
	text_counted(&text, findings_count(f) - items - limits - parts, "item", "items");
	if (findings_count(f) > items + limits + parts)
		document_line(d, "omitted", buf_text(&text));
	buf_done(&text);
}

void findings_document(const struct summary_findings *f, size_t keep, struct document *d)
{
	size_t items = keep < f->items.count ? keep : f->items.count;
	size_t limits = keep - items < f->limits.count ? keep - items : f->limits.count;
	size_t parts = keep - items - limits;

	if (f->program)
		programs(f, items, limits, parts, d);
	else
		readers(f, items, limits, parts, d);
}
