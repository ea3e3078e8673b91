/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hook: the function that the triggers of the test's programs call. Compares each exit with the
 * open entry of its thread, and writes at the end:
 *
 *	call TAG COUNT		of each tag that came
 *	wrong COUNT		exits without an open entry
 *	skipped COUNT		entries that were left without their exit (longjmp)
 *	open COUNT		of the thread that ends the process
 *
 * INLINE=TAG,TAG,... lists the inline tags. Compiled without the plugin.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TAGS (1u << 16)
#define DEPTH 10000

static unsigned calls[TAGS];
static unsigned wrong, skipped;
static char alone[TAGS];
static __thread unsigned open_tags[DEPTH];
static __thread unsigned depth;

static void leave(unsigned entry)
{
	unsigned at = depth;

	while (at && open_tags[at - 1] != entry)
		at--;
	if (!at) {
		__atomic_add_fetch(&wrong, 1, __ATOMIC_RELAXED);
		return;
	}
	__atomic_add_fetch(&skipped, depth - at, __ATOMIC_RELAXED);
	depth = at - 1;
}

void hook(unsigned tag);

void hook(unsigned tag)
{
	if (tag < 2 || tag >= TAGS || depth == DEPTH)
		abort();
	__atomic_add_fetch(&calls[tag], 1, __ATOMIC_RELAXED);
	if (alone[tag])
		return;
	if (tag % 2)
		leave(tag - 1);
	else
		open_tags[depth++] = tag;
}

__attribute__((constructor)) static void begin(void)
{
	const char *list = getenv("INLINE");

	while (list && *list) {
		alone[strtoul(list, (char **)&list, 10) % TAGS] = 1;
		list += *list == ',';
	}
}

__attribute__((destructor)) static void end(void)
{
	const char *path = getenv("HOOK_OUT");
	FILE *f = path ? fopen(path, "w") : NULL;

	if (!f)
		return;
	for (unsigned tag = 0; tag < TAGS; tag++)
		if (calls[tag])
			fprintf(f, "call %u %u\n", tag, calls[tag]);
	fprintf(f, "wrong %u\nskipped %u\nopen %u\n", wrong, skipped, depth);
	fclose(f);
}
