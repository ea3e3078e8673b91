/* SPDX-License-Identifier: GPL-2.0-or-later */
/* calls_libraries_plugin: an instrumented plugin that calls getppid. */
#include <unistd.h>

__attribute__((visibility("default"))) int plugin_run(int times);

int plugin_run(int times)
{
	int found = 0;

	for (int i = 0; i < times; i++)
		found += getppid() >= 0;
	return found;
}
