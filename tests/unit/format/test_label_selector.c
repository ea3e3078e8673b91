/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/pyroscope/label_selector.h"

#include "base/memory/buf.h"
#include "check.h"
#include "format/pyroscope/label_name.h"

#include <errno.h>

/* Whether the selector, which is valid, selects the value of the label. */
static bool has(const char *text, const char *name, const char *value)
{
	struct label_selector s = {0};
	struct error err = {0};
	bool found;

	CHECK_EQ(label_selector_parse(&s, text, &err), 0);
	found = label_selector_has(&s, name, value);
	label_selector_done(&s);
	return found;
}

static void each_operator_compares_whole_values(void)
{
	CHECK(has("{host=\"web1\"}", "host", "web1"));
	CHECK(!has("{host=\"web1\"}", "host", "web12"));
	CHECK(!has("{host!=\"web1\"}", "host", "web1"));
	CHECK(has("{host!=\"web1\"}", "host", "web2"));
	CHECK(has("{host=~\"web.\"}", "host", "web1"));
	CHECK(!has("{host=~\"web.\"}", "host", "web12"));
	CHECK(!has("{host=~\"web.\"}", "host", "aweb1"));
	CHECK(has("{host=~\"a|ab\"}", "host", "ab"));
	CHECK(!has("{host!~\"web.*\"}", "host", "web12"));
	CHECK(has("{host!~\"web.*\"}", "host", "db1"));
	CHECK(has("{host=~\".*\"}", "host", ""));
}

static void all_conditions_must_hold(void)
{
	CHECK(has("{host=~\"web.*\", host!=\"web1\"}", "host", "web2"));
	CHECK(!has("{host=~\"web.*\", host!=\"web1\"}", "host", "web1"));
	CHECK(has("{host=\"web1\", service_name=\"a\"}", "host", "web1"));
}

static void nothing_selects_everything(void)
{
	CHECK(has("", "host", "a"));
	CHECK(has("{}", "host", "a"));
	CHECK(has("  { } ", "host", "a"));
	CHECK(has("{host=\"a\",}", "host", "a"));
}

static void values_have_escapes(void)
{
	CHECK(has("{host=\"a\\\\b\\\"c\\n\\td\"}", "host", "a\\b\"c\n\td"));
	CHECK(has("{host=~\"web\\\\.com\"}", "host", "web.com"));
	CHECK(!has("{host=~\"web\\\\.com\"}", "host", "webxcom"));
}

static void labels_that_a_series_lacks_are_empty(void)
{
	CHECK(has("{host=\"x\", pod=\"\"}", "pod", ""));
	CHECK(!has("{pod=\"y\"}", "pod", ""));
	CHECK(has("{pod!=\"y\"}", "pod", ""));
	CHECK(has("{pod=~\"y*\"}", "pod", ""));
}

static void keys_become_names(void)
{
	static const char *const keys[][2] = {{"k8s.pod.name", "k8s_pod_name"},
	                                      {"a-b/c:d", "a_b_c_d"},
	                                      {"2nd", "_nd"},
	                                      {"a2", "a2"},
	                                      {"_Z", "_Z"}};

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		char text[16];

		snprintf(text, sizeof(text), "%s", keys[i][0]);
		CHECK(label_name_is(text, keys[i][1]));
		label_name_make(text);
		CHECK_STR(text, keys[i][1]);
	}
	CHECK(!label_name_is("k8s.pod", "k8s_pod_name"));
	CHECK(!label_name_is("k8s.pod.name", "k8s_pod"));
	CHECK(!label_name_is("k8s.pod", "k8s.pod"));
}

static void other_texts_are_refused(void)
{
	static const char *const wrong[] = {
	        "host=\"a\"",     "{host=a}",         "{host=\"a\"",          "{host=\"a}",
	        "{=\"a\"}",       "{1host=\"a\"}",    "{host==\"a\"}",        "{host\"a\"}",
	        "{host=\"a\" b}", "{host=\"a\"} x",   "{host=\"\\x\"}",       "{host='a'}",
	        "{host=~\"(\"}",  "{host=~\"a{2}\"}", "{host=~\"(a)\\\\1\"}", "{host=~\"a)|(b\"}",
	        "{host=\"a\",,}", "{host=\"a\\",
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct label_selector s = {0};
		struct error err = {0};

		CHECK_EQ(label_selector_parse(&s, wrong[i], &err), -EINVAL);
		CHECK(strstr(err.text, "label selector: ") != NULL);
		label_selector_done(&s);
	}
}

static void lengths_and_numbers_have_limits(void)
{
	struct label_selector s = {0};
	struct buf text = {0};

	buf_puts(&text, "{");
	for (int i = 0; i < LABEL_CONDITIONS_MAX; i++)
		buf_puts(&text, "a=\"\",");
	buf_puts(&text, "}");
	CHECK_EQ(label_selector_parse(&s, buf_text(&text), NULL), 0);
	CHECK_EQ(label_selector_parse(&s, "{a=\"\"}", NULL), -EINVAL);
	label_selector_done(&s);
	s = (struct label_selector){0};
	buf_clear(&text);
	buf_puts(&text, "{a=\"");
	buf_pad(&text, 'x', LABEL_CONDITION_MAX + 1);
	buf_puts(&text, "\"}");
	CHECK_EQ(label_selector_parse(&s, buf_text(&text), NULL), -EINVAL);
	label_selector_done(&s);
	buf_done(&text);
}

int main(void)
{
	RUN(each_operator_compares_whole_values);
	RUN(all_conditions_must_hold);
	RUN(nothing_selects_everything);
	RUN(values_have_escapes);
	RUN(labels_that_a_series_lacks_are_empty);
	RUN(keys_become_names);
	RUN(other_texts_are_refused);
	RUN(lengths_and_numbers_have_limits);
	return check_end();
}
