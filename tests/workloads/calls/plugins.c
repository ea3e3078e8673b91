/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plugins: loads and unloads instrumented libraries. Usage: plugins CASE FIRST SECOND
 *
 *	again      one, 40 times
 *	exchanged  two in turn: the second comes to lie where the first one was
 *	threads    one, by four threads, each in its own time
 *	kept       two that are never unloaded
 *
 * Prints "truth: same place N" on stderr: the number of times that a library was loaded at the
 * address of an unloaded one.
 */
#include "truth_threads.h"

#include <dlfcn.h>

typedef void entry(unsigned n, void (*back)(unsigned));

static volatile unsigned long sink;
static const char *files[2];
static unsigned same_place;

static APART void leaf(unsigned n)
{
	CALLED();
	sink += n;
}

static APART void back(unsigned n)
{
	CALLED();
	PATH("...;visit;plugin_entry;back");
	leaf(n);
}

static APART void visit(void *plugin, unsigned n)
{
	entry *function;

	CALLED();
	*(void **)&function = dlsym(plugin, "plugin_entry");
	for (unsigned i = 0; i < 3; i++)
		function(n + i, n & 1 ? back : NULL);
	leaf(n);
}

static void *load(const char *file)
{
	void *plugin = dlopen(file, RTLD_NOW | RTLD_LOCAL);

	CALLED();
	if (!plugin) {
		dprintf(2, "truth: %s\n", dlerror());
		_exit(121);
	}
	return plugin;
}

static void again(void)
{
	CALLED();
	for (unsigned i = 0; i < 40; i++) {
		void *plugin = load(files[0]);

		visit(plugin, i);
		dlclose(plugin);
		leaf(i);
	}
}

static void exchanged(void)
{
	void *before = NULL;

	CALLED();
	for (unsigned i = 0; i < 40; i++) {
		void *plugin = load(files[i & 1]), *now = dlsym(plugin, "plugin_entry");

		same_place += now == before;
		before = now;
		visit(plugin, i);
		dlclose(plugin);
	}
}

static void *body(void *argument)
{
	CALLED();
	for (unsigned i = 0; i < 20; i++) {
		void *plugin = load(files[0]);

		visit(plugin, i + (argument != NULL));
		dlclose(plugin);
	}
	return NULL;
}

static void threads(void)
{
	CALLED();
	truth_threads(body, 4);
}

static void kept(void)
{
	CALLED();
	for (unsigned i = 0; i < 2; i++)
		visit(load(files[i]), 5 + i);
}

int main(int argc, char **argv)
{
	static const struct truth_case cases[] = {
	        {"again", again}, {"exchanged", exchanged}, {"threads", threads}, {"kept", kept},
	        {NULL, NULL},
	};

	CALLED();
	if (argc != 4)
		truth_usage("plugins CASE FIRST SECOND");
	files[0] = argv[2];
	files[1] = argv[3];
	truth_run(cases, argv[1]);
	dprintf(2, "truth: same place %u\n", same_place);
	return 0;
}
