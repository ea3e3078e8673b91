/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/report/tags_output.h"
#include "cmd/cli/print.h"

#include "base/memory/buf.h"
#include "base/text/figure.h"
#include "base/text/plural.h"
#include "output/text/table.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

static uint64_t bytes_in(const char *directory)
{
	DIR *dir = opendir(directory);
	const struct dirent *entry;
	uint64_t bytes = 0;
	struct stat st;

	while (dir && (entry = readdir(dir)))
		if (!fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) &&
		    S_ISREG(st.st_mode))
			bytes += (uint64_t)st.st_size;
	if (dir)
		closedir(dir);
	return bytes;
}

static void tell_waits(const struct tags_collect_result *r)
{
	struct buf text = {0};

	if (r->waits) {
		text_time(&text, (int64_t)r->waited_ns);
		print_message("threads waited %s in %" PRIu64
		              " %s until memory was free; this time "
		              "is in no function",
		              text.data, r->waits, plural(r->waits, "pause", "pauses"));
	}
	buf_done(&text);
}

static void tell_missing(const struct tags_collect_result *r)
{
	if (r->lost)
		print_message("%" PRIu64 " %s lost, since the memory was full%s; prevent this "
		              "with more --memory, %sor fewer functions with triggers",
		              r->lost, plural(r->lost, "event was", "events were"),
		              r->full ? " and recording stopped" : "", r->full ? "" : "--wait, ");
	if (r->no_rings)
		print_message("more than %u threads at a time: events of some are missing",
		              ASSAY_TAGS_RINGS);
	if (r->holes)
		print_message("%" PRIu64 " %s begun, but not written: the thread was killed or "
		              "interrupted at that moment",
		              r->holes, plural(r->holes, "event was", "events were"));
	if (r->damaged)
		print_message("%" PRIu64 " %s left out: the contents are invalid", r->damaged,
		              plural(r->damaged, "packet is", "packets are"));
}

static void tell_names(const struct tags_collect_result *r)
{
	if (r->names_full)
		print_message("there was no room for all names: some tags have none; 'assay tags "
		              "import' and 'assay report' read names files with --names");
	if (r->conflicts)
		print_message("%" PRIu64 " %s left out, since the tag has another name already: "
		              "build the program and its libraries with one names file",
		              r->conflicts, plural(r->conflicts, "name was", "names were"));
}

void tags_output_tell(const struct tags_collect_result *r, const char *path)
{
	struct buf text = {0};

	vec_each (note, &r->notes)
		print_message("%s", *note);
	tell_missing(r);
	tell_waits(r);
	tell_names(r);
	text_counted(&text, r->events, "event in ", "events in ");
	text_counted(&text, r->streams, "stream of ", "streams of ");
	text_counted(&text, r->processes, "process", "processes");
	if (r->running)
		buf_addf(&text, " (%zu still running)", r->running);
	buf_puts(&text, ", ");
	text_bytes(&text, bytes_in(path));
	buf_addf(&text,
	         " in %s; 'assay report %s' sums it up, 'assay tags trace %s' shows its code "
	         "path",
	         path, path, path);
	print_message("%s", text.data);
	buf_done(&text);
}
