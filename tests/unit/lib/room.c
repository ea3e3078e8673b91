/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unit_ROOM TEST: runs one of the unit tests of a room. Meson writes the list of them, and gives
 * each main() the name of its test.
 */
#include <stdio.h>
#include <string.h>

#define ROOM_TEST(name) int name##_main();
#include ROOM_TESTS
#undef ROOM_TEST

int main(int argc, char **argv)
{
	const char *test = argc > 1 ? argv[1] : "";

#define ROOM_TEST(name)                                                                            \
	if (!strcmp(test, #name))                                                                  \
		return name##_main(argc - 1, argv + 1);
#include ROOM_TESTS
	fprintf(stderr, "%s: no test has this name\n", test);
	return 2;
}
