/* SPDX-License-Identifier: GPL-2.0-or-later */
/* table: the sql_out_ functions, which set values for SQLite. */
#include "sql/tables/table.h"

#include "base/text/utf8.h"

#include <math.h>

void sql_out_u64(sqlite3_context *out, uint64_t value)
{
	sqlite3_result_int64(out, value > INT64_MAX ? INT64_MAX : (int64_t)value);
}

void sql_out_known(sqlite3_context *out, uint64_t value)
{
	if (value)
		sql_out_u64(out, value);
}

void sql_out_double(sqlite3_context *out, double value)
{
	if (!isnan(value))
		sqlite3_result_double(out, value);
}

/* The end of the text, or its first byte that is not UTF-8. */
static const char *text_end(const char *text)
{
	int n;

	while (*text && (n = utf8_length((const unsigned char *)text)))
		text += n;
	return text;
}

static void out_mended(sqlite3_context *out, const char *text)
{
	struct sqlite3_str *str = sqlite3_str_new(NULL);
	char *mended;

	while (*text) {
		const char *end = text_end(text);

		sqlite3_str_append(str, text, (int)(end - text));
		if (*end)
			sqlite3_str_appendall(str, "\xef\xbf\xbd");
		text = end + (*end != '\0');
	}
	mended = sqlite3_str_finish(str);
	sqlite3_result_text(out, mended ? mended : "", -1, SQLITE_TRANSIENT);
	sqlite3_free(mended);
}

static void out_text(sqlite3_context *out, const char *text, sqlite3_destructor_type how)
{
	const char *end;

	if (!text)
		return;
	end = text_end(text);
	if (*end)
		out_mended(out, text);
	else
		sqlite3_result_text64(out, text, (sqlite3_uint64)(end - text), how, SQLITE_UTF8);
}

void sql_out_text(sqlite3_context *out, const char *text)
{
	out_text(out, text, SQLITE_STATIC);
}

void sql_out_copy(sqlite3_context *out, const char *text)
{
	out_text(out, text, SQLITE_TRANSIENT);
}
