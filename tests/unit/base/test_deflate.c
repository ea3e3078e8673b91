/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compression by zlib, and base64. */
#include "base/memory/deflate.h"
#include "base/memory/xalloc.h"
#include "base/text/base64.h"

#include "check.h"

#define MANY 300000

static void base64_of_the_standard(void)
{
	/* RFC 4648, section 10; the last one has all bits of the two last digits of the alphabet.
	 */
	static const char *const cases[][2] = {{"", ""},
	                                       {"f", "Zg=="},
	                                       {"fo", "Zm8="},
	                                       {"foo", "Zm9v"},
	                                       {"foob", "Zm9vYg=="},
	                                       {"fooba", "Zm9vYmE="},
	                                       {"foobar", "Zm9vYmFy"},
	                                       {"\xff\xff\xfe\xfb\xef\xbe", "///+++++"}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct buf out = {0};

		base64_add(&out, cases[i][0], strlen(cases[i][0]));
		CHECK_STR(buf_text(&out), cases[i][1]);
		buf_done(&out);
	}
}

static void base64_in_pieces(void)
{
	struct buf whole = {0}, pieces = {0};
	char bytes[100];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)(i * 37);
	base64_add(&whole, bytes, sizeof(bytes));
	for (size_t i = 0; i < sizeof(bytes); i += 4 * BASE64_BLOCK)
		base64_add(&pieces, bytes + i,
		           sizeof(bytes) - i < 4 * BASE64_BLOCK ? sizeof(bytes) - i
		                                                : 4 * BASE64_BLOCK);
	CHECK_EQ(whole.size, (sizeof(bytes) + 2) / 3 * 4);
	CHECK_STR(buf_text(&pieces), buf_text(&whole));
	buf_done(&whole);
	buf_done(&pieces);
}

static void fill(char *bytes)
{
	for (size_t i = 0; i < MANY; i++)
		bytes[i] = (char)(i * i >> 7);
}

static void pieces_are_one_stream(void)
{
	char *bytes = xmalloc(MANY), *back = xmalloc(MANY);
	struct buf out = {0};
	uLongf size = MANY;
	struct deflate d;

	fill(bytes);
	CHECK(!deflate_begin(&d, DEFLATE_ZLIB, 6, &out, NULL));
	deflate_add(&d, NULL, 0);
	deflate_add(&d, bytes, 1);
	deflate_add(&d, bytes + 1, MANY - 1);
	CHECK(!deflate_finish(&d, NULL));
	CHECK(out.size < MANY);
	CHECK_EQ(uncompress((Bytef *)back, &size, (Bytef *)out.data, out.size), Z_OK);
	CHECK_EQ(size, MANY);
	CHECK(!memcmp(bytes, back, MANY));
	free(bytes);
	free(back);
	buf_done(&out);
}

/* The header of gzip has no time, so that equal input gives equal output. */
static void gzip_has_a_constant_header(void)
{
	static const unsigned char header[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0};
	struct buf out = {0};
	struct deflate d;

	CHECK(!deflate_begin(&d, DEFLATE_GZIP, 1, &out, NULL));
	deflate_add(&d, "text", 4);
	CHECK(!deflate_finish(&d, NULL));
	CHECK(out.size > sizeof(header) && !memcmp(out.data, header, sizeof(header)));
	buf_done(&out);
}

static void a_level_that_does_not_exist_is_an_error(void)
{
	struct error err = {0};
	struct buf out = {0};
	struct deflate d;

	CHECK(deflate_begin(&d, DEFLATE_ZLIB, 99, &out, &err) < 0);
	CHECK(strstr(err.text, "zlib cannot start"));
	buf_done(&out);
}

int main(void)
{
	RUN(base64_of_the_standard);
	RUN(base64_in_pieces);
	RUN(pieces_are_one_stream);
	RUN(gzip_has_a_constant_header);
	RUN(a_level_that_does_not_exist_is_an_error);
	return check_end();
}
