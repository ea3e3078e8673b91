/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * path_pipeline: two stages, connected by a pipe. The first one is slower: the critical path is
 * the first stage, and the last item of the second stage.
 */
#include "path.h"

#define ITEMS 50

static int ends[2];

COMPUTES(parse_item, 4)
COMPUTES(store_item, 2)

static void *parser(void *unused)
{
	truth_name("parser");
	for (int i = 0; i < ITEMS; i++) {
		STEP(parse_item);
		must(write(ends[1], "", 1) != 1, "write");
	}
	return unused;
}

static void *storer(void *unused)
{
	char item;

	truth_name("storer");
	for (int i = 0; i < ITEMS; i++) {
		must(read(ends[0], &item, 1) != 1, "read");
		if (i == ITEMS - 1)
			STEP(store_item);
		else
			store_item();
	}
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];

	path_begin("path_pipeline", argc, argv);
	must(pipe(ends), "pipe");
	threads[0] = truth_start(parser, NULL);
	threads[1] = truth_start(storer, NULL);
	truth_join(threads[0]);
	truth_join(threads[1]);
	truth_end();
	return 0;
}
