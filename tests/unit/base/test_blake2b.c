/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Digests are compared with another implementation (Python's hashlib), for input in pieces of any
 * size.
 */
#include "check.h"

#include "base/memory/blake2b.h"

static const struct {
	size_t size; /* of the bytes 0, 1, ... 255, 0, ... */
	const char *digest;
} cases[] = {
        {0, "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8"},
        {1, "03170a2e7597b7b7e3d84c05391d139a62b157e78786d8c082f29dcf4c111314"},
        {3, "3d8c3d594928271f44aad7a04b177154806867bcf918e1549c0bc16f9da2b09b"},
        {127, "f2fe67ff342e21b8f45e8f2e0bcd1d9243245d50ee6c78042e9c491388791c72"},
        {128, "c3582f71ebb2be66fa5dd750f80baae97554f3b015663c8be377cfcb2488c1d1"},
        {129, "f7f3c46ba2564ff4c4c162da1f5b605f9f1c4aa6a20652a9f9a337c1a2f5b9c9"},
        {255, "1d0850ee9bca0abc9601e9deabe1418fedec2fb6ac4150bd5302d2430f9be943"},
        {256, "39a7eb9fedc19aabc83425c6755dd90e6f9d0c804964a1f4aaeea3b9fb599835"},
        {257, "45f7f084c30bac7cbae2e1963bc6e6b0d8cb227a12927e97fb941d288fb1f9a3"},
        {1000, "c636324d47d89f2b2434dc2c994100663fbbaea880ff020fc5de89dd0f77a1ec"},
};

static void check(size_t size, size_t piece, const char *want)
{
	uint8_t bytes[1024], digest[BLAKE2B_BYTES];
	char text[2 * BLAKE2B_BYTES + 1];
	struct blake2b b;

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)i;
	blake2b_init(&b);
	for (size_t at = 0; at < size; at += piece)
		blake2b_add(&b, bytes + at, size - at < piece ? size - at : piece);
	blake2b_end(&b, digest);
	for (size_t i = 0; i < sizeof(digest); i++)
		snprintf(text + 2 * i, 3, "%02x", digest[i]);
	CHECK_STR(text, want);
}

static void digests_are_those_of_the_standard(void)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		check(cases[i].size, 1024, cases[i].digest);
}

static void pieces_make_no_difference(void)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		for (size_t piece = 1; piece < 300; piece += 7)
			check(cases[i].size, piece, cases[i].digest);
}

static void a_number_is_eight_bytes(void)
{
	static const uint8_t bytes[] = {8, 7, 6, 5, 4, 3, 2, 1};
	uint8_t one[BLAKE2B_BYTES], two[BLAKE2B_BYTES];
	struct blake2b b;

	blake2b_init(&b);
	blake2b_add(&b, bytes, sizeof(bytes));
	blake2b_end(&b, one);
	blake2b_init(&b);
	blake2b_add_u64(&b, 0x0102030405060708);
	blake2b_end(&b, two);
	CHECK(!memcmp(one, two, sizeof(one)));
}

int main(void)
{
	RUN(digests_are_those_of_the_standard);
	RUN(pieces_make_no_difference);
	RUN(a_number_is_eight_bytes);
	return check_end();
}
