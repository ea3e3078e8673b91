/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/load/load_store.h"

#include "base/clock.h"
#include "base/memory/xalloc.h"
#include "base/text/plural.h"
#include "cmd/cli/parse_time.h"
#include "cmd/cli/print.h"
#include "format/file_kind.h"
#include "store/store.h"
#include "store/store_path.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define AT(field) offsetof(struct load_options, field)

const struct option load_machine_table[] = {
        {OPTION_STRING, 0, "store", "FILE",
         "read a store of 'assay start --store' instead of a recording", .offset = AT(store)},
        {OPTION_STRING, 0, "host", "NAME",
         "for a store of several machines: the machine, or several: 'web*'", .offset = AT(host)},
        {OPTION_STRING, 0, "service", "NAME",
         "for a store: only samples of this service, or of several: 'web*'",
         .details = "The service of a process is the systemd unit or the container of its cgroup.",
         .offset = AT(service)},
        {OPTION_STRING, 0, "build", "VERSION",
         "for a store: only samples of programs of this version, or of several: '1.2*'",
         .details = "The version of a process is the build-id of its program, or what its "
                    "container says.",
         .offset = AT(build)},
        {.kind = OPTION_END},
};

const struct option load_until_table[] = {
        {.kind = OPTION_INCLUDE, .include = load_machine_table},
        {OPTION_STRING, 0, "from", "TIME",
         "for a store: start of the time range (10:00, 2026-11-21T10:00, yesterday, -2h)",
         .details = "Local time. A date with or without a time of day, a time of today, "
                    "yesterday, a duration before now (s, min, h, d, w), or @SECONDS since 1970. "
                    "Windows that overlap with the range are read as a whole.",
         .offset = AT(from)},
        {OPTION_STRING, 0, "until", "TIME", "for a store: end of the time range", .offset = AT(to)},
        {.kind = OPTION_END},
};

const struct option load_store_table[] = {
        {.kind = OPTION_INCLUDE, .include = load_until_table},
        {OPTION_STRING, 0, "to", "TIME", "the same as --until", .offset = AT(to)},
        {.kind = OPTION_END},
};

static int refuse_times(const struct load_options *o, struct error *err)
{
	const char *option = o->from      ? "--from"
	                     : o->to      ? "--until"
	                     : o->host    ? "--host"
	                     : o->service ? "--service"
	                     : o->build   ? "--build"
	                                  : NULL;

	if (!option)
		return 0;
	return error_set(err, EINVAL,
	                 "%s is for stores (--store FILE); of a recording, --time FROM,TO takes a "
	                 "part",
	                 option);
}

static int check_alone(const struct load_options *o, const char *store, struct error *err)
{
	if (load_named(o, o->store ? 0 : 1))
		return error_set(err, EINVAL,
		                 "%s is a store, which has a report of its own; give no other file",
		                 store);
	if (o->time)
		return error_set(
		        err, EINVAL,
		        "--time is for recordings; use --from and --until for a part of a store");
	return 0;
}

int load_store_path(char **path, const struct load_options *o, struct error *err)
{
	const char *file;
	int r;

	*path = o->store ? store_path_to_read(o->store) : NULL;
	for (size_t n = 0; !*path && (file = load_named(o, n)); n++) {
		*path = store_path_to_read(file);
		if (store_is_remote(*path) || file_kind_of(*path, NULL) == FILE_STORE)
			break;
		free(*path);
		*path = NULL;
	}
	if (!*path)
		return refuse_times(o, err);
	r = check_alone(o, *path, err);
	if (r) {
		free(*path);
		*path = NULL;
	}
	return r;
}

static void show_progress(void *ctx, const struct store_progress *p)
{
	if (!p)
		print_progress_end();
	else if (p->bytes)
		print_progress("%s from the server: %" PRIu64 " %s, %.1f MB (Ctrl-C ends)", p->what,
		               p->rows, plural(p->rows, "row", "rows"), (double)p->bytes / 1e6);
	else
		print_progress("%s from the server: no answer for %.0f s (Ctrl-C ends)", p->what,
		               (double)p->open_ns / 1e9);
}

int load_store_range(struct store_range *range, const struct load_options *o, struct error *err)
{
	uint64_t now_ns = clock_ns(CLOCK_REALTIME);
	int r = 0;

	*range = (struct store_range){.host = o->host,
	                              .service = o->service,
	                              .version = o->build,
	                              .sums = o->sums,
	                              .parts = o->parts,
	                              .progress = !o->quiet && isatty(STDERR_FILENO) ? show_progress
	                                                                             : NULL};
	if (o->from)
		r = when_parse("--from", o->from, now_ns, &range->from_ns, err);
	if (!r && o->to)
		r = when_parse("--until", o->to, now_ns, &range->to_ns, err);
	if (!r && o->to && range->to_ns <= range->from_ns)
		r = error_set(err, EINVAL, "--until %s is not after --from %s", o->to,
		              o->from ? o->from : "the beginning of time");
	return r;
}

int load_store_read(struct profile *p, const char *path, const struct load_options *o,
                    struct error *err)
{
	struct store_range range;
	int r = load_store_range(&range, o, err);

	return r ? r : store_read(path, &range, p, err);
}

char *load_store_exactly(const char *name)
{
	struct buf pattern = {0};
	char *copy;

	if (!name)
		return NULL;
	for (; *name; name++)
		buf_addf(&pattern, strchr("*?[", *name) ? "[%c]" : "%c", *name);
	copy = xstrdup(buf_text(&pattern));
	buf_done(&pattern);
	return copy;
}
