/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Answers of a hostile ClickHouse server to the questions for sums by service, host and time: the
 * answers in the order of the questions, each with its length in two bytes.
 */
#include "server_answers.h"
#include "store/clickhouse/click_series.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* All sets of labels with the same first letter are one. */
static const char *first_letter(void *ctx, const char *lines)
{
	char *letter = ctx;

	*letter = *lines;
	return letter;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct click_server server = {.name = (char *)(uintptr_t) "clickhouse://fuzz/db",
	                              .ask = answer_next};
	char letter[2] = {0};
	struct store_sums_request q = {.by_service = true,
	                               .by_host = true,
	                               .by_version = true,
	                               .by_labels = first_letter,
	                               .by_labels_ctx = letter,
	                               .step_ns = 1000000000};
	struct store_sums sums = {0};
	struct error err = {0};
	int rc;

	/* Without labels and steps, sums of all machines are read too. */
	if (size & 1)
		q.by_labels = NULL;
	if (size & 1)
		q.step_ns = 0;
	at = bytes;
	left = size;
	rc = click_series_ask(&server, &q, &sums, &err);
	if ((rc != 0) != (err.text[0] != '\0'))
		abort();
	vec_each (sum, &sums.sums)
		if (sum->service >= sums.texts.texts.count || sum->host >= sums.texts.texts.count ||
		    sum->version >= sums.texts.texts.count || sum->labels >= sums.texts.texts.count)
			abort();
	store_sums_done(&sums);
	return 0;
}
