/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The trace's metadata, as src/format/ctf writes it (docs/FORMAT.md), and names files. It is
 * written when recording begins, so that the trace of a killed QEMU has it.
 */
#include "capture.h"

#include "symbols.h"

#include "assay/tags_wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char head[] =
        "/* CTF 1.8 */\n\n"
        "/* Event tags, recorded by assay's capture device in QEMU. */\n"
        "typealias integer { size = 64; align = 8; signed = false; } := u64;\n"
        "typealias integer { size = 32; align = 8; signed = false; } := u32;\n"
        "typealias integer { size = 32; align = 8; signed = true; } := s32;\n"
        "typealias integer { size = 8; align = 8; signed = false; encoding = UTF8; } := text;\n\n"
        "trace {\n\tmajor = 1;\n\tminor = 8;\n\tbyte_order = le;\n"
        "\tpacket.header := struct {\n\t\tu32 magic;\n\t\tu32 stream_id;\n\t};\n};\n\n"
        "env {\n\ttracer_name = \"assay\";\n\tswitches = 0;\n};\n\n"
        "clock {\n\tname = ticks;\n\tfreq = 1000000000;\n";

static const char types[] = "};\n\n"
                            "typealias integer { size = 40; align = 8; signed = false; "
                            "map = clock.ticks.value; } := time40;\n"
                            "typealias integer { size = 64; align = 8; signed = false; "
                            "map = clock.ticks.value; } := time64;\n\n";

static const char stream[] =
        "stream %s{\n\tid = 0;\n\tpacket.context := struct {\n"
        "\t\ttime64 timestamp_begin;\n\t\ttime64 timestamp_end;\n"
        "\t\tu64 content_size;\n\t\tu64 packet_size;\n\t\tu64 events_discarded;\n"
        "\t\tu64 packet_seq_num;\n\t\ts32 pid;\n\t\ts32 %s;\n\t\tu64 flags;\n"
        "\t\ttext thread[16];\n\t\ttext process[40];\n\t};\n"
        "\tevent.header := struct {\n"
        "\t\tinteger { size = 24; align = 8; signed = false; } id;\n"
        "\t\ttime40 timestamp;\n\t};\n};\n\n";

/* The tag of a line NAME/TAG with an optional mark; 0: not such a line. */
static uint32_t line_tag(const char *line, size_t *name_length)
{
	const char *slash = strrchr(line, '/');
	unsigned long tag;
	char *end;

	if (!slash || slash == line || *line == '#' || strstr(line, "*/"))
		return 0;
	tag = strtoul(slash + 1, &end, 10);
	if (end == slash + 1 || !tag || tag > ASSAY_TAG_LAST)
		return 0;
	*name_length = (size_t)(slash - line);
	return (uint32_t)tag;
}

/* True for the comment that names a function without tags. */
static bool is_left_out(const char *line)
{
	return !strncmp(line, "# left out ", 11) && !strstr(line, "*/");
}

/*
 * Calls `each` for each name until it returns false. A function without tags has the tag 0.
 * Returns 0 or -1.
 */
static int each_name(const char *path,
                     bool (*each)(const char *line, size_t name_length, uint32_t tag, void *data),
                     void *data)
{
	FILE *f = fopen(path, "re");
	char *line = NULL;
	size_t size = 0, length = 0;
	uint32_t tag;

	if (!f) {
		fprintf(stderr, "assay_device: names=%s: cannot be read: %m\n", path);
		return -1;
	}
	while (getline(&line, &size, f) > 0) {
		line[strcspn(line, "\r\n")] = 0;
		tag = line_tag(line, &length);
		if ((tag || is_left_out(line)) && !each(line, length, tag, data))
			break;
	}
	free(line);
	fclose(f);
	return 0;
}

struct wanted {
	const char *name;
	uint32_t tag;
};

static bool is_wanted(const char *line, size_t length, uint32_t tag, void *data)
{
	struct wanted *w = data;

	if (tag && strlen(w->name) == length && !memcmp(line, w->name, length))
		w->tag = tag;
	return !w->tag;
}

uint32_t capture_names_find(const char *path, const char *name)
{
	struct wanted w = {.name = name};

	return each_name(path, is_wanted, &w) ? 0 : w.tag;
}

static bool put_line(const char *line, size_t length, uint32_t tag, void *data)
{
	return dprintf(*(int *)data, "%s\n", line) > 0;
}

static int put_clock(int fd, bool host)
{
	struct timespec real, mono;
	long long ns;

	if (!host)
		return 0;
	clock_gettime(CLOCK_MONOTONIC, &mono);
	clock_gettime(CLOCK_REALTIME, &real);
	ns = (real.tv_sec - mono.tv_sec) * 1000000000ll + real.tv_nsec - mono.tv_nsec;
	return dprintf(fd, "\toffset_s = %lld;\n\toffset = %lld;\n", ns / 1000000000,
	               ns % 1000000000) < 0;
}

int capture_metadata(int fd, const struct capture_options *o)
{
	if (dprintf(fd, "%s", head) < 0 || put_clock(fd, o->host_clock) ||
	    dprintf(fd, "%s", types) < 0 ||
	    dprintf(fd, stream, o->system ? "/*assay device*/ " : "",
	            o->system ? "cpu_id" : "tid") < 0)
		return -1;
	if (!o->names && !o->calls && !o->samples)
		return 0;
	if (dprintf(fd, "/*assay names 0\n") < 0 ||
	    (o->names ? each_name(o->names, put_line, &fd) : symbols_write_names(fd, o->calls)))
		return -1;
	return dprintf(fd, "*/\n") < 0 ? -1 : 0;
}
