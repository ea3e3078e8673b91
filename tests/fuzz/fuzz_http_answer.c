/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Answers of any HTTP server: two bytes of status, the headers, an empty line, the body. A value of
 * a header is text of the headers, and a sentence with parts of the answer is short and can be
 * printed. The first header's line is also parsed as an address.
 */
#include "base/http/http_client.h"
#include "base/http/http_url.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void check_sentence(const struct error *err)
{
	for (const char *c = err->text; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			abort();
	if (!err->text[0])
		abort();
}

static void check_url(const char *text)
{
	struct error err = {0};
	struct buf again = {0};
	struct http_url u, same;

	if (http_url_parse(text, &u, &err)) {
		check_sentence(&err);
		return;
	}
	if (u.port > 65535 || !*u.host || (*u.path && *u.path != '/'))
		abort();
	/* Without its user and scheme it is the same again. */
	http_url_text(&u, false, &again);
	if (http_url_parse(buf_text(&again), &same, &err) || strcmp(u.host, same.host) != 0 ||
	    strcmp(u.path, same.path) != 0 || u.port != same.port)
		abort();
	http_escape(&again, u.host);
	http_url_is_loopback(&u);
	buf_done(&again);
	http_url_done(&same);
	http_url_done(&u);
}

static void check_header(const struct http_answer *a, const char *name)
{
	struct buf value = {0};

	if (http_answer_header(a, name, &value) &&
	    (value.size > a->headers.size || memchr(buf_text(&value), '\n', value.size)))
		abort();
	buf_done(&value);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct http_answer a = {0};
	struct error err = {0};
	const uint8_t *body;
	char *line;
	int ret;

	if (size < 2)
		return 0;
	a.status = (unsigned)(bytes[0] | bytes[1] << 8) % 1000;
	bytes += 2;
	size -= 2;
	body = memmem(bytes, size, "\n\n", 2);
	buf_add(&a.headers, bytes, body ? (size_t)(body - bytes) + 1 : size);
	if (body)
		buf_add(&a.body, body + 2, size - (size_t)(body + 2 - bytes));
	check_header(&a, "Location");
	check_header(&a, "X-ClickHouse-Exception-Code");
	ret = http_answer_check(&a, "http://server/", &err);
	if ((ret == 0) != (a.status >= 200 && a.status < 300))
		abort();
	if (ret)
		check_sentence(&err);
	line = strndup(buf_text(&a.headers), strcspn(buf_text(&a.headers), "\r\n"));
	check_url(line);
	free(line);
	http_answer_done(&a);
	return 0;
}
