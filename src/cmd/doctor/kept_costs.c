/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The file: a line with its version, then a key and its value on each line. */
#include "cmd/doctor/kept_costs.h"

#include "base/file/cache_dir.h"
#include "base/memory/buf.h"
#include "base/memory/xalloc.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#define KIND "costs"
#define NAME "machine"
#define FIRST_LINE "assay costs 1\n"
#define BYTES_MAX 8192

static void put_line(struct buf *b, const char *key, const char *value)
{
	buf_addf(b, "%s ", key);
	for (const char *at = value ? value : ""; *at; at++)
		buf_putc(b, *at == '\n' ? ' ' : *at);
	buf_putc(b, '\n');
}

int kept_costs_write(const struct method_costs *c, struct error *err)
{
	struct cache_dir *cache;
	struct buf b = {0};
	int status = cache_dir_open(&cache, err);

	if (status)
		return status;
	buf_puts(&b, FIRST_LINE);
	put_line(&b, "host", c->host);
	put_line(&b, "kernel", c->kernel);
	put_line(&b, "clock", c->clock);
	buf_addf(&b, "wall_ns %" PRIu64 "\n", c->wall_ns);
	for (int i = 0; i < COST_COUNT; i++)
		if (c->items[i].ns > 0)
			buf_addf(&b, "%s %.1f %.1f %.1f\n", method_cost_key(i), c->items[i].ns,
			         c->items[i].low_ns, c->items[i].high_ns);
	status = cache_dir_keep(cache, KIND, NAME, b.data, b.size, err);
	buf_done(&b);
	cache_dir_close(cache);
	return status;
}

static bool is_cost(double ns)
{
	return isfinite(ns) && ns >= 0 && ns < 1e12;
}

static void take_text(char **to, const char *value)
{
	free(*to);
	*to = xstrdup(value);
}

static void take_line(struct method_costs *c, const char *key, const char *value)
{
	if (!strcmp(key, "host"))
		take_text(&c->host, value);
	if (!strcmp(key, "kernel"))
		take_text(&c->kernel, value);
	if (!strcmp(key, "clock"))
		take_text(&c->clock, value);
	if (!strcmp(key, "wall_ns"))
		c->wall_ns = strtoull(value, NULL, 10);
	for (int i = 0; i < COST_COUNT; i++) {
		double ns, low, high;

		if (!strcmp(key, method_cost_key(i)) &&
		    sscanf(value, "%lf %lf %lf", &ns, &low, &high) == 3 && is_cost(ns) &&
		    is_cost(low) && is_cost(high))
			c->items[i] =
			        (struct method_cost){.ns = ns, .low_ns = low, .high_ns = high};
	}
}

static void take_text_of_file(struct method_costs *c, char *text)
{
	char *rest, *line, *value;

	if (strncmp(text, FIRST_LINE, sizeof(FIRST_LINE) - 1))
		return;
	line = strtok_r(text + sizeof(FIRST_LINE) - 1, "\n", &rest);
	for (; line; line = strtok_r(NULL, "\n", &rest)) {
		value = strchr(line, ' ');
		if (!value)
			continue;
		*value++ = '\0';
		take_line(c, line, value);
	}
}

void kept_costs_read(struct method_costs *c)
{
	char text[BYTES_MAX + 1];
	struct cache_dir *cache;
	struct error err = {0};
	struct utsname host;
	ssize_t size;
	int fd;

	*c = (struct method_costs){0};
	if (cache_dir_open(&cache, &err))
		return;
	fd = cache_dir_find(cache, KIND, NAME);
	size = fd < 0 ? 0 : read(fd, text, BYTES_MAX);
	if (fd >= 0)
		close(fd);
	cache_dir_close(cache);
	if (size <= 0)
		return;
	text[size] = '\0';
	take_text_of_file(c, text);
	uname(&host);
	if (!c->wall_ns || !c->host || strcmp(c->host, host.nodename) != 0)
		method_costs_done(c);
}
