/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any bytes as the configuration of an agent: each word comes from its line, an error names the
 * file and the line, and options that are for the command line alone are refused.
 */
#include "cmd/agent/agent_config.h"

#include "fuzz_directory.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

extern const struct command cmd_agent;

static const char *const refused[] = {"config", "check", NULL};

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct agent_config c = {0};
	struct error err = {0};
	size_t lines = 1;
	void *options = calloc(1, cmd_agent.options_size);
	char path[128];
	int ret;

	for (size_t i = 0; i < size; i++)
		lines += bytes[i] == '\n';
	if (cmd_agent.defaults)
		cmd_agent.defaults(options);
	fuzz_put("agent.conf", bytes, size, path);
	ret = agent_config_read(&c, &cmd_agent, refused, options, path, &err);
	if ((ret != 0) != (err.text[0] != '\0') || (ret && !strstr(err.text, path)))
		abort();
	if (c.words.count > lines || c.results.count > c.words.count)
		abort();
	for (size_t i = 0; i < c.words.count; i++) {
		const char *word = c.words.items[i];

		/* The last one may be an unknown option. */
		if ((!ret || i + 1 < c.words.count) &&
		    (!strncmp(word, "--config", 8) || !strncmp(word, "--check", 7) ||
		     !strncmp(word, "--no-check", 10)))
			abort();
	}
	agent_config_done(&c);
	free(options);
	return 0;
}
