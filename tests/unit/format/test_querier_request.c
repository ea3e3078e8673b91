/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/pyroscope/querier_request.h"

#include "check.h"

#include <errno.h>

static int read_json(struct querier_request *r, enum querier_method method, const char *text)
{
	return querier_request_read(r, method, true, text, strlen(text), NULL);
}

/* SelectSeriesRequest as a client of connect-go writes it: fields 1 to 6 and 9. */
static const char select_series[] = "\x0a\x03"
                                    "a:b"
                                    "\x12\x0c"
                                    "{host=\"web\"}"
                                    "\x18\x80\xd0\x95\xff\xbc\x31\x20\x80\xad\xf1\x80\xbd\x31"
                                    "\x2a\x04host\x31\0\0\0\0\0\0\x2e\x40\x48\x0a";

static void a_request_in_protobuf_is_read(void)
{
	struct querier_request r;

	CHECK_EQ(querier_request_read(&r, QUERIER_SELECT_SERIES, false, select_series,
	                              sizeof(select_series) - 1, NULL),
	         0);
	CHECK_STR(r.sides[0].type, "a:b");
	CHECK_STR(r.sides[0].selector, "{host=\"web\"}");
	CHECK_EQ(r.sides[0].start_ms, 1700000000000);
	CHECK_EQ(r.sides[0].end_ms, 1700003600000);
	CHECK_EQ(r.labels.count, 1);
	CHECK_STR(r.labels.items[0], "host");
	CHECK_EQ(r.step_s, 15);
	CHECK_EQ(r.limit, 10);
	querier_request_done(&r);
}

static void the_same_request_in_json_is_read(void)
{
	struct querier_request r;

	CHECK_EQ(read_json(&r, QUERIER_SELECT_SERIES,
	                   "{\"profileTypeID\":\"a:b\",\"label_selector\":\"{}\","
	                   "\"start\":\"1700000000000\",\"end\":1700003600000,"
	                   "\"groupBy\":[\"host\"],\"step\":1.5,\"limit\":\"10\",\"more\":[{}]}"),
	         0);
	CHECK_STR(r.sides[0].type, "a:b");
	CHECK_STR(r.sides[0].selector, "{}");
	CHECK_EQ(r.sides[0].start_ms, 1700000000000);
	CHECK_EQ(r.sides[0].end_ms, 1700003600000);
	CHECK_STR(r.labels.items[0], "host");
	CHECK(r.step_s == 1.5);
	CHECK_EQ(r.limit, 10);
	querier_request_done(&r);
}

static void both_sides_of_a_comparison_are_read(void)
{
	struct querier_request r;

	CHECK_EQ(
	        read_json(
	                &r, QUERIER_DIFF,
	                "{\"right\":{\"start\":3,\"end\":4,\"spanSelector\":[\"a\"]},"
	                "\"left\":{\"start\":1,\"end\":2,\"spanSelector\":[],\"maxNodes\":\"9\"}}"),
	        0);
	CHECK_EQ(r.sides[0].start_ms, 1);
	CHECK_EQ(r.sides[0].nodes_max, 9);
	CHECK(!r.sides[0].other_selector);
	CHECK_EQ(r.sides[1].end_ms, 4);
	CHECK(r.sides[1].other_selector);
	querier_request_done(&r);
}

static void an_empty_request_has_no_values(void)
{
	struct querier_request r;

	CHECK_EQ(querier_request_read(&r, QUERIER_PROFILE_TYPES, false, "", 0, NULL), 0);
	CHECK_EQ(r.sides[0].start_ms, 0);
	querier_request_done(&r);
	CHECK_EQ(querier_request_read(&r, QUERIER_PROFILE_TYPES, true, "", 0, NULL), 0);
	querier_request_done(&r);
}

static void wrong_requests_are_refused(void)
{
	static const char *const wrong[] = {
	        "{\"start\":-1}",
	        "{\"start\":5,\"end\":4}",
	        "{\"start\":\"x\"}",
	        "{\"start\":1e300}",
	        "{\"start\":{}}",
	        "{",
	        "{} {}",
	        "[]",
	        "{\"profileTypeID\":7}",
	        "{\"maxNodes\":-5}",
	        "{\"end\":9999999999999999999}",
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct querier_request r;

		CHECK_EQ(read_json(&r, QUERIER_STACKTRACES, wrong[i]), -EINVAL);
		querier_request_done(&r);
	}
}

static void each_method_has_a_name(void)
{
	enum querier_method method;

	CHECK(querier_method_find("SelectMergeStacktraces", &method));
	CHECK_EQ(method, QUERIER_STACKTRACES);
	CHECK(querier_method_find("Diff", &method));
	CHECK(!querier_method_find("GetProfileStats", &method));
	CHECK(!querier_method_find("", &method));
}

int main(void)
{
	RUN(a_request_in_protobuf_is_read);
	RUN(the_same_request_in_json_is_read);
	RUN(both_sides_of_a_comparison_are_read);
	RUN(an_empty_request_has_no_values);
	RUN(wrong_requests_are_refused);
	RUN(each_method_has_a_name);
	return check_end();
}
