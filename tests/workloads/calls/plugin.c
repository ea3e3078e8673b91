/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plugin: a library to be loaded and unloaded; PLUGIN names it. Two plugins are equal byte by byte,
 * except for the names of their functions.
 */
#include "truth.h"

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define TEXT_(a) #a
#define TEXT(a) TEXT_(a)

static volatile unsigned long sink;

static APART void JOIN(PLUGIN, _inner)(unsigned n)
{
	CALLED();
	PATH("...;visit;plugin_entry;" TEXT(PLUGIN) "_work;" TEXT(PLUGIN) "_inner");
	sink += n;
}

static APART void JOIN(PLUGIN, _work)(unsigned n)
{
	CALLED();
	for (unsigned i = 0; i < n; i++)
		JOIN(PLUGIN, _inner)(i);
}

__attribute__((visibility("default"))) void plugin_entry(unsigned n, void (*back)(unsigned));

void plugin_entry(unsigned n, void (*back)(unsigned))
{
	CALLED();
	JOIN(PLUGIN, _work)(n);
	if (back)
		back(n);
}

__attribute__((constructor)) static void JOIN(PLUGIN, _begin)(void)
{
	CALLED();
	sink++;
}

__attribute__((destructor)) static void JOIN(PLUGIN, _end)(void)
{
	CALLED();
	sink++;
}
