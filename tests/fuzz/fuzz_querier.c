/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests of Pyroscope's query API with any bytes. The first byte is the method, and whether the
 * rest is JSON. Numbers of a request that is accepted are in their ranges; its selectors are
 * parsed and used. A selector that has only equalities selects the values that it names.
 */
#include "format/pyroscope/label_selector.h"
#include "format/pyroscope/querier_request.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void try_selector(const char *text)
{
	struct label_selector s = {0};
	struct error err = {0};
	int rc = label_selector_parse(&s, text, &err);

	if ((rc != 0) != (err.text[0] != '\0'))
		abort();
	if (!rc)
		label_selector_has(&s, "host", "web1.example.com");
	for (size_t i = 0; !rc && i < s.conditions.count; i++) {
		const struct label_condition *c = &s.conditions.items[i];

		if (s.conditions.count == 1 && c->how == LABEL_IS &&
		    !label_selector_has(&s, c->name, c->value))
			abort();
		if (s.conditions.count == 1 && c->how == LABEL_IS_NOT &&
		    label_selector_has(&s, c->name, c->value))
			abort();
	}
	label_selector_done(&s);
}

static void try_request(const struct querier_request *r)
{
	for (int i = 0; i < 2; i++) {
		if (r->sides[i].start_ms < 0 || r->sides[i].nodes_max < 0)
			abort();
		if (r->sides[i].end_ms && r->sides[i].end_ms < r->sides[i].start_ms)
			abort();
		if (r->sides[i].selector)
			try_selector(r->sides[i].selector);
	}
	if (r->matchers.count > QUERIER_TEXTS_MAX || r->labels.count > QUERIER_TEXTS_MAX)
		abort();
	if (!(r->step_s >= 0) || r->limit < 0)
		abort();
	vec_each (text, &r->matchers)
		try_selector(*text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct querier_request r;
	struct error err = {0};
	int rc;

	if (!size)
		return 0;
	rc = querier_request_read(&r, (enum querier_method)(bytes[0] % QUERIER_METHODS),
	                          bytes[0] & 0x80, bytes + 1, size - 1, &err);
	if ((rc != 0) != (err.text[0] != '\0'))
		abort();
	if (!rc)
		try_request(&r);
	querier_request_done(&r);
	return 0;
}
